import { openRealServers } from './real-servers.ts';
import { valkeySuite } from './suite.ts';

valkeySuite(() => openRealServers('9.1.2'));
