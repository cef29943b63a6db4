import { migrationSuite } from './migration-suite.ts';
import { openRealServers } from './real-servers.ts';

migrationSuite(() => openRealServers('8.1.8'), false);
