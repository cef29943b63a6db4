import { openRealServers } from './real-servers.ts';
import { lostMasterSuite } from './lost-master-suite.ts';

lostMasterSuite(() => openRealServers('9.1.2'));
