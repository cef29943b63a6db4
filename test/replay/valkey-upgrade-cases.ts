import type { StackHandle } from '../../deploy/local/testing.ts';
import { ClusterWorld } from '../valkey/cluster-world.ts';
import { applyUpgrade, awaitUpgradePhase } from '../valkey/upgrade-world.ts';
import { recordHistory } from './recorder.ts';
import { untilAtRest } from './valkey-cases.ts';

/** What one cluster goes through, one upgrade after the other: each is named after what it shows. */
const UPGRADES = [
  { name: 'in-place', target: '9.1.2', spec: { strategy: 'InPlace' }, ends: 'Completed' },
  { name: 'surge', target: '9.0.0', spec: { strategy: 'Surge' }, ends: 'Completed' },
  {
    name: 'failed',
    target: '9.9.9',
    spec: { strategy: 'InPlace', podReadyTimeoutSeconds: 5 },
    ends: 'RolledBack',
  },
] as const;

/** Plays the upgrades on a stack with a worker, and records each, its first shard, and what the cluster's workflow did. */
export async function recordUpgrades(stack: StackHandle, version: string): Promise<void> {
  const world = await ClusterWorld.create(stack);
  const keep = async (workflowId: string, name: string): Promise<void> => {
    const renames = new Map<string, string>();
    const recording = { workflowId, lifecycle: 'valkey-upgrade', case: name, version, renames };
    console.log(await recordHistory(await world.temporal(), recording));
  };
  try {
    await world.applyWithSecret({
      persistence: { size: '64Mi', retention: 'Delete' },
      image: { tag: '9.0.0', allowDowngrade: true },
    });
    await untilAtRest(world);
    const known = new Set(await workflowsOf(world));
    for (const { name, target, spec, ends } of UPGRADES) {
      await applyUpgrade(world, name, target, { ...spec, stabilitySeconds: 0 });
      await awaitUpgradePhase(world, name, ends);
      await untilAtRest(world);
      for (const workflowId of await newWorkflows(world, known)) {
        const [, , , operation, , shard] = workflowId.split('/');
        if (shard === undefined || shard === 'shard-0')
          await keep(workflowId, [operation, name, shard].filter((part) => part !== undefined).join('-'));
      }
    }
    await keep(world.entityId, 'cluster-upgraded-thrice');
  } finally {
    await world.remove();
  }
}

/** The operations and shards of a cluster; visibility lags behind, so they are looked for until the newest are there. */
async function workflowsOf(world: ClusterWorld): Promise<readonly string[]> {
  const client = await world.temporal();
  const found: string[] = [];
  for await (const { workflowId } of client.workflow.list({
    query: `KeelsonNamespace = '${world.namespace}'`,
  }))
    if (workflowId !== world.entityId) found.push(workflowId);
  return found;
}

async function newWorkflows(world: ClusterWorld, known: Set<string>): Promise<readonly string[]> {
  const found = await world.until(async () => {
    const fresh = (await workflowsOf(world)).filter((id) => !known.has(id));
    const shards = fresh.filter((id) => id.includes('/shard-'));
    return shards.length > 0 ? { found: fresh } : { missing: 'the workflows of the upgrade in a list' };
  });
  for (const id of found) known.add(id);
  return found;
}
