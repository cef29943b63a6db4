import type { Invariant } from '../operation.ts';
import { findGap } from './spot-role-log.ts';
import type { SpotRun } from './spot-run.ts';

/** At every committed instant, and not only when somebody looked. */
const onePrimary: Invariant<SpotRun> = {
  says: 'exactly one instance was PRIMARY at every committed instant',
  broken: (run) => firstOf(run, (agent) => findGap(run.world.database, agent)),
};

const primaryRuns: Invariant<SpotRun> = {
  says: 'one instance is PRIMARY, and runs',
  broken: (run) =>
    firstOf(run, async (agent) => {
      const primaries = await run.world.database.primaries(agent);
      const cloud = await run.world.cloud(agent);
      const states = primaries.map((id) => `${id} ${cloud[id] ?? 'gone'}`);
      return states.length === 1 && states[0]?.endsWith(' running') === true
        ? null
        : states.join(', ') || 'none';
    }),
};

/** EC2's own list against the rows, both ways. */
const nothingIsLeaked: Invariant<SpotRun> = {
  says: 'no instance runs without a row, and no row lives without its instance',
  broken: (run) =>
    firstOf(run, async (agent) => {
      const [cloud, rows] = [await run.world.cloud(agent), await run.world.statuses(agent)];
      const ids = new Set([...Object.keys(cloud), ...Object.keys(rows)]);
      const wrong = [...ids].filter(
        (id) => isLive(cloud[id]) !== ((rows[id] ?? 'terminated') !== 'terminated'),
      );
      return wrong.length === 0
        ? null
        : wrong.map((id) => `${id}: ${cloud[id] ?? 'gone'}, its row ${rows[id] ?? 'missing'}`).join('; ');
    }),
};

const launchedOnce: Invariant<SpotRun> = {
  says: 'every replica was launched once at most',
  broken: (run) =>
    firstOf(run, async (agent) => {
      const replicas = (await run.world.launchesOf(agent)).map((one) => one.replica);
      const twice = replicas.filter((one, at) => replicas.indexOf(one) !== at);
      return twice.length === 0 ? null : twice.join(', ');
    }),
};

const oneEntityRuns: Invariant<SpotRun> = {
  says: 'nothing is under way',
  broken: (run) => run.unfinished(),
};

/** What holds for spot agents, whatever was done to them. */
export const SPOT_INVARIANTS: readonly Invariant<SpotRun>[] = [
  onePrimary,
  primaryRuns,
  nothingIsLeaked,
  launchedOnce,
  oneEntityRuns,
];

const isLive = (state: string | undefined): boolean => state === 'pending' || state === 'running';

/** What was found for the first agent that something is wrong with. */
async function firstOf(
  run: SpotRun,
  judge: (agent: string) => Promise<string | null>,
): Promise<string | null> {
  for (const { id } of run.agents) {
    const found = await judge(id);
    if (found !== null) return `${id}: ${found}`;
  }
  return null;
}
