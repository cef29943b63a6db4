import { openRealServers } from './real-servers.ts';
import { upgradeSuite } from './upgrade-suite.ts';

upgradeSuite(() => openRealServers('9.1.2'));
