import { openRealServers } from './real-servers.ts';
import { valkeySuite } from './suite.ts';

valkeySuite(() => openRealServers('8.1.8'));
