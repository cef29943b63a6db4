import type { Client } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StackHandle } from '../../deploy/local/testing.ts';
import { entityIsAt } from '../faults/entity-rest.ts';
import { ClusterWorld } from '../valkey/cluster-world.ts';
import { recordHistory } from './recorder.ts';

const SPEC = {
  auth: { secretRef: { name: 'cache-auth' } },
  persistence: { size: '64Mi', retention: 'Delete' },
  replicasPerMaster: 1,
} as const;
const LOOK_MS = 100;

type Keep = (workflowId: string, name: string) => Promise<unknown>;
type Case = (world: ClusterWorld, keep: Keep) => Promise<void>;

/** What clusters go through for their recorded histories, each in a namespace of its own. */
const CASES: readonly Case[] = [
  async function wholeLife(world, keep) {
    await world.createSecret();
    await world.apply({ ...SPEC, masters: 3 });
    await untilAtRest(world);
    await world.apply({ ...SPEC, masters: 4 });
    await untilAtRest(world);
    await world.apply({ ...SPEC, masters: 3 });
    await untilAtRest(world);
    await loseAPod(world);
    await untilAtRest(world);
    await world.delete();
    await world.awaitGone();
    const client = await world.temporal();
    await client.workflow.getHandle(world.entityId).result();
    for (const { workflowId, operation } of await operationsOf(client, world))
      await keep(workflowId, operation);
    await keep(world.entityId, 'cluster-whole-life');
  },
  async function blocked(world, keep) {
    await world.apply({ ...SPEC, masters: 3 });
    await world.until(async () => {
      const { conditions = [] } = (await world.read())?.status ?? {};
      const blocked = conditions.some(({ message }) => message.includes('DependenciesExist'));
      return blocked ? { found: true } : { missing: 'the missing Secret in a condition' };
    });
    await world.createSecret();
    await untilAtRest(world);
    await keep(world.entityId, 'cluster-blocked-then-unblocked');
  },
];

/** Plays the cases on a stack with a worker, and records the histories of what they go through. */
export async function recordValkey(stack: StackHandle, version: string): Promise<void> {
  for (const play of CASES) {
    const world = await ClusterWorld.create(stack);
    // The namespace stays, which was drawn at random: what is applied is known by a hash that it is part of.
    const renames = new Map<string, string>();
    try {
      await play(world, async (workflowId, name) => {
        const recording = { workflowId, lifecycle: 'valkey-cluster', case: name, version, renames };
        console.log(await recordHistory(await world.temporal(), recording));
      });
    } finally {
      await world.remove();
    }
  }
}

/** Running by what the status says, and nothing under way any more. */
export async function untilAtRest(world: ClusterWorld): Promise<void> {
  await world.awaitPhase('Running');
  while ((await entityIsAt(await world.temporal(), world.entityId)) !== null) await sleep(LOOK_MS);
}

/** Ends a pod as the loss of its machine would, and waits until that was seen. */
async function loseAPod(world: ClusterWorld): Promise<void> {
  const [pod] = await world.list('pods');
  const path = `/api/v1/namespaces/${world.namespace}/pods/${pod?.metadata.name ?? ''}`;
  await world.api.send('DELETE', path, { gracePeriodSeconds: 0 });
  const client = await world.temporal();
  await world.until(async () => {
    const healed = (await operationsOf(client, world)).some(({ operation }) => operation === 'heal');
    return healed ? { found: true } : { missing: 'the start of a repair' };
  });
}

/** The operations of a cluster, found as people find them. */
async function operationsOf(
  client: Client,
  world: ClusterWorld,
): Promise<readonly { readonly workflowId: string; readonly operation: string }[]> {
  const found: { readonly workflowId: string; readonly operation: string }[] = [];
  for await (const { workflowId } of client.workflow.list({
    query: `KeelsonNamespace = '${world.namespace}'`,
  })) {
    const operation = workflowId.split('/')[3];
    if (operation !== undefined) found.push({ workflowId, operation });
  }
  return found;
}
