import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import {
  noWorkflowRuns,
  nothingIsLeft,
  oneEntityRuns,
  ownerOfAll,
} from '../../faults/operations/valkey-invariants.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { readHistories } from './histories.ts';
import { watchPhases } from './phase-watch.ts';

const FLOW = [
  'Creating',
  'WaitingForPods',
  'InitializingCluster',
  'AssigningSlots',
  'ConfiguringReplicas',
  'VerifyingClusterHealth',
  'Running',
];

/** The longest name that there may be: whatever is named after it must still fit. */
const LONGEST = `c${'-long'.repeat(10)}-x`;

describe('a ValkeyCluster of 3 masters and 3 replicas', () => {
  let world: ClusterWorld;
  let phases: readonly string[];

  beforeAll(async () => {
    world = await ClusterWorld.create(await useStack(), LONGEST);
    const watch = watchPhases(world);
    await world.applyWithSecret({ persistence: { size: '64Mi', retention: 'Delete' } });
    await world.awaitPhase('Running');
    phases = await watch.stop();
  });

  afterAll(() => world.remove());

  it('forms by `kubectl apply` alone, and every server agrees that it is whole', async () => {
    expect(world.name).toHaveLength(53);
    expect(await wrongWith(world, 3, 1)).toBeNull();
  });

  it('goes through the phases of the specification in their order, and through no other', () => {
    // A status that is overtaken by the next one is never written, so some may be missing, but none is out of order.
    expect(phases.filter((phase) => phase !== 'Pending')).toEqual(
      FLOW.filter((phase) => phases.includes(phase)),
    );
    expect(phases.at(-1)).toBe('Running');
  });

  it('says in its conditions, for this generation, that it is ready', async () => {
    const seen = await world.read();
    const conditions = seen?.status?.conditions ?? [];
    const byType = Object.fromEntries(conditions.map(({ type, status }) => [type, status]));
    expect(byType).toMatchObject({
      Ready: 'True',
      Progressing: 'False',
      Degraded: 'False',
      Available: 'True',
    });
    expect(seen?.status?.observedGeneration).toBe(seen?.metadata.generation);
  });

  it('spreads the two pods of a shard over nodes', async () => {
    const pods = await world.list('pods');
    const nodes = new Map<string, Set<unknown>>();
    for (const pod of pods) {
      const shard = pod.metadata.labels?.['valkey-operator.smoketurner.com/shard'] ?? '';
      const on = nodes.get(shard) ?? new Set();
      nodes.set(shard, on.add((pod['spec'] as { nodeName?: string }).nodeName));
    }
    expect([...nodes.values()].map((on) => on.size)).toEqual([2, 2, 2]);
  });

  it('owns everything that it made, with one entity and no operation running', async () => {
    expect(await ownerOfAll.broken(world)).toBeNull();
    expect(await oneEntityRuns.broken(world)).toBeNull();
  });

  it('carries the wish of one generation out once, however often the resource is touched', async () => {
    const before = await operationsOf(world);
    await world.api.send(
      'PATCH',
      `/apis/valkey-operator.smoketurner.com/v1alpha1/namespaces/${world.namespace}/valkeyclusters/${world.name}`,
      { metadata: { annotations: { touched: 'yes' } } },
      'application/merge-patch+json',
    );
    const client = await world.temporal();
    await client.workflow
      .getHandle(world.entityId)
      .signal('hint', { kind: 'ValkeyCluster', uid: '', generation: 1 });
    await world.awaitPhase('Running');
    expect(await operationsOf(world)).toEqual(before);
  });

  it('puts its password into no history, no log and no command line', async () => {
    const histories = await readHistories(world);
    const logs = readdirSync(join(world.stack.home, 'logs')).map((file) =>
      readFileSync(join(world.stack.home, 'logs', file), 'utf8'),
    );
    const lines = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(commandLine);
    const base64 = Buffer.from(world.password).toString('base64');
    const leaks = [histories, ...logs, ...lines].filter(
      (text) => text.includes(world.password) || text.includes(base64),
    );
    expect(histories).toContain('cache-auth');
    expect(leaks).toEqual([]);
  });

  it('is gone without a trace after `kubectl delete`', async () => {
    await world.delete();
    await world.awaitGone();
    expect(await nothingIsLeft.broken(world)).toBeNull();
    await world.until(async () => {
      const running = await noWorkflowRuns.broken(world);
      return running === null ? { found: true } : { missing: running };
    });
  });
});

async function operationsOf(world: ClusterWorld): Promise<readonly string[]> {
  const client = await world.temporal();
  const ids: string[] = [];
  for await (const one of client.workflow.list({ query: `KeelsonNamespace = '${world.namespace}'` })) {
    if (one.workflowId !== world.entityId) ids.push(one.workflowId);
  }
  return ids.sort();
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // The process has ended since the directory was read.
  }
}
