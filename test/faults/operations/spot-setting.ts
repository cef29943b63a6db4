import { CREDENTIALS } from '../../conformance/spot-agent/ec2-stage.ts';
import { SpotWorld } from '../../e2e/spot-agent/spot-world.ts';
import type { Disturbance } from '../disturbances.ts';
import type { FaultOperation, FaultSetting } from '../operation.ts';
import { TUNING } from '../tuning.ts';
import { keepRoleLog } from './spot-role-log.ts';
import type { SpotRun } from './spot-run.ts';

/** A worker that dies while it answers a notice holds the task of the workflow: it is given up so soon. */
const TASK_MS = 2_000;

/** An operation on spot agents: one database and one EC2 for all runs, agents of its own for each. */
export const onSpot = (play: (world: SpotWorld) => FaultOperation<SpotRun>): FaultSetting => ({
  parts: ['temporal', 'mariadb', 'ec2'],
  // EC2 is emulated in memory, and would come back without its instances: it has outages instead.
  mortal: ['temporal', 'mariadb'],
  async open(stack, afterwards) {
    const world = await SpotWorld.on(stack, 'default', { ...TUNING, taskTimeoutMs: TASK_MS });
    afterwards.defer(() => world.close());
    await keepRoleLog(world.database);
    return {
      operation: play(world),
      workerEnv: {
        ...CREDENTIALS,
        KEELSON_MYSQL_URL: world.database.url,
        AWS_ENDPOINT_URL_EC2: world.ec2.url,
      },
      disturbances: [outage(world)],
    };
  },
});

/** EC2 answers the next requests of every kind with an error of its own. */
const outage = (world: SpotWorld): Disturbance => ({
  name: 'an outage of EC2',
  act: () =>
    world.ec2.behave({
      outages: ['RunInstances', 'DescribeInstances', 'TerminateInstances', 'DescribeSpotPriceHistory'].map(
        (action) => ({ action, times: 10 }),
      ),
    }),
});
