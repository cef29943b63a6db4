import type { MysqlClient } from './client.ts';
import type { MysqlActivities } from './contract.ts';
import { promoteInstance } from './promote.ts';

/** The activities of the database, over one client. */
export function createMysqlActivities(mysql: MysqlClient): MysqlActivities {
  return {
    promoteSpotInstance: (promotion) => promoteInstance(mysql, promotion),
  };
}
