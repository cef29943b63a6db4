import { openRealServers } from './real-servers.ts';
import { lostMasterSuite } from './lost-master-suite.ts';

lostMasterSuite(() => openRealServers('8.1.8'));
