import { openRealServers } from './real-servers.ts';
import { rotationSuite } from './rotation-suite.ts';

rotationSuite(() => openRealServers('8.1.8'));
