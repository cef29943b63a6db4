import { openRealServers } from './real-servers.ts';
import { upgradeSuite } from './upgrade-suite.ts';

upgradeSuite(() => openRealServers('8.1.8'));
