import { migrationSuite } from './migration-suite.ts';
import { openRealServers } from './real-servers.ts';

migrationSuite(() => openRealServers('9.1.2'), true);
