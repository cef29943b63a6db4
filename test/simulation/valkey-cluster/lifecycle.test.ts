import { describe, expect, it } from 'vitest';
import { runEntity, type EntityInput } from '../../../workflows/shared/entity.ts';
import type { Hint } from '../../../workflows/shared/messages.ts';
import { runOperation, type Operation, type OperationInput } from '../../../workflows/shared/operation.ts';
import type { EntityPort, OperationPort } from '../../../workflows/shared/port.ts';
import { valkeyClusterId, type ValkeyTypes } from '../../../workflows/valkey-cluster/contract.ts';
import { countSlots } from '../../../workflows/valkey-cluster/domain/slots.ts';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { valkeyLifecycle } from '../../../workflows/valkey-cluster/lifecycle.ts';
import { create } from '../../../workflows/valkey-cluster/operations/create.ts';
import { deleteCluster } from '../../../workflows/valkey-cluster/operations/delete.ts';
import { scaleUp } from '../../../workflows/valkey-cluster/operations/scale-up.ts';
import { scaleDown } from '../../../workflows/valkey-cluster/operations/scale-down.ts';
import { changeReplicas } from '../../../workflows/valkey-cluster/operations/change-replicas.ts';
import { scale } from '../../../workflows/valkey-cluster/operations/scale.ts';
import { rebalance } from '../../../workflows/valkey-cluster/operations/rebalance.ts';
import { restart } from '../../../workflows/valkey-cluster/operations/restart.ts';
import { heal } from '../../../workflows/valkey-cluster/operations/heal.ts';
import type { ActivityImplementation } from '../engine/attempts.ts';
import { Engine, type EngineOptions } from '../engine/engine.ts';
import type { WorkflowCode } from '../engine/execution.ts';
import { createSimulatedActivities } from './activities.ts';
import { REF, ValkeyWorld } from './world.ts';

const ID = valkeyClusterId(REF);
const HOUR_MS = 3_600_000;
const CREATION = [
  'Creating',
  'WaitingForPods',
  'InitializingCluster',
  'AssigningSlots',
  'ConfiguringReplicas',
  'VerifyingClusterHealth',
  'Running',
];

const operation =
  (one: Operation<ValkeyTypes>): WorkflowCode =>
  (port, input) =>
    runOperation(
      port as unknown as OperationPort<ValkeyTypes['activities']>,
      valkeyLifecycle,
      one,
      input as unknown as OperationInput<ValkeyTypes>,
    );

const WORKFLOWS: Readonly<Record<string, WorkflowCode>> = {
  valkeyCluster: (port, input) =>
    runEntity(
      port as unknown as EntityPort<ValkeyTypes['activities']>,
      valkeyLifecycle,
      input as unknown as EntityInput,
    ),
  createValkeyCluster: operation(create),
  healValkeyCluster: operation(heal),
  restartValkeyCluster: operation(restart),
  rebalanceValkeyCluster: operation(rebalance),
  scaleValkeyCluster: operation(scale),
  changeValkeyReplicas: operation(changeReplicas),
  scaleDownValkeyCluster: operation(scaleDown),
  scaleUpValkeyCluster: operation(scaleUp),
  deleteValkeyCluster: operation(deleteCluster),
};

function stage(options: Partial<EngineOptions> = {}) {
  const world = new ValkeyWorld();
  const engine = new Engine({
    seed: 'valkey',
    workflows: WORKFLOWS,
    activities: createSimulatedActivities(world) as unknown as Readonly<
      Record<string, ActivityImplementation>
    >,
    ...options,
  });
  const hint = (news: Hint): void =>
    engine.signalWithStart('valkeyCluster', ID, { ref: REF }, { name: 'hint', input: news });
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    if (await engine.until(holds, HOUR_MS)) return;
    throw new Error(`it never came to pass that ${what}:\n${engine.journal.lines.slice(-30).join('\n')}`);
  };
  const settles = (phase: string): Promise<void> =>
    until(
      `the phase is ${phase}`,
      () => world.phases.at(-1) === phase && world.resource?.status['currentOperation'] === undefined,
    );
  return { world, engine, hint, until, settles };
}

/** How many slots each shard serves, smallest first. */
const sharesOf = (world: ValkeyWorld): readonly number[] =>
  world.pods
    .map((pod) => countSlots(world.server(pod.name).slots))
    .filter((slots) => slots > 0)
    .toSorted((a, b) => a - b);

const condition = (world: ValkeyWorld, type: string) =>
  world.resource?.conditions.find((one) => one.type === type);

describe('a Valkey cluster', () => {
  it('is created through the phases of the specification, in their order', async () => {
    const { world, hint, settles } = stage();
    hint(world.apply());
    await settles('Running');
    expect(world.phases).toEqual(CREATION);
    expect(world.resource?.status).toMatchObject({
      readyNodes: '6/6',
      readyMasters: 3,
      observedGeneration: 1,
    });
    expect(condition(world, 'Ready')).toMatchObject({ status: 'True', reason: 'ClusterHealthy' });
    expect(world.sets.map((set) => set.name)).toEqual(['cache-0', 'cache-1', 'cache-2']);
  });

  it.each(['first', 'second', 'third'])(
    'is created whatever the worker suffers, the %s time too',
    async (seed) => {
      const { world, engine, hint, settles } = stage({
        seed,
        faults: { lostAnswer: 0.2, frozen: 0.1, slow: 0.1 },
      });
      hint(world.apply());
      for (let crash = 0; crash < 5; crash += 1) {
        await engine.until(() => false, 900);
        await engine.crash(300);
      }
      await settles('Running');
      expect(world.resource?.status).toMatchObject({ readyNodes: '6/6', assignedSlots: '16384/16384' });
      expect(engine.journal.violations).toEqual([]);
    },
  );

  it('waits for a Secret, says so, and creates nothing before it is there', async () => {
    const { world, hint, until, settles } = stage();
    world.missingSecret = true;
    hint(world.apply());
    await until('it says what is missing', () =>
      /cache-auth/.test(condition(world, 'Progressing')?.message ?? ''),
    );
    expect(world.sets).toEqual([]);
    expect(world.objects).toEqual({});
    world.missingSecret = false;
    await settles('Running');
  });

  it('names an image that cannot be had, and goes on with a better one', async () => {
    const { world, hint, until, settles } = stage();
    hint(world.apply({ image: { ...DEFAULT_SPEC.image, tag: '9.9.9' } }));
    await until('it names the image', () => condition(world, 'Ready')?.reason === 'ImagePullFailed');
    hint(world.apply());
    await settles('Running');
    expect(world.pods.every((pod) => pod.image === 'valkey/valkey:9.1.2')).toBe(true);
  });

  it('grows or shrinks to a newer wish that comes before its pods are there', async () => {
    const { world, engine, hint, settles } = stage();
    hint(world.apply({ masters: 5 }));
    await engine.until(() => world.sets.length === 5, HOUR_MS);
    hint(world.apply({ masters: 3 }));
    await settles('Running');
    expect(world.sets).toHaveLength(3);
    hint(world.hint());
    expect(world.resource?.status).toMatchObject({ readyNodes: '6/6', observedGeneration: 2 });
  });

  it('heals when all pods come back at other addresses, and when one loses its place', async () => {
    const { world, engine, hint, settles, until } = stage();
    hint(world.apply());
    await settles('Running');
    for (const server of world.servers.values()) server.knows = [server.id];
    hint(world.hint());
    const healed = (): number =>
      world.events.filter((event) => event.startsWith('OperationDone: heal')).length;
    await until('they know each other', () => healed() === 1);
    expect([...world.servers.values()].every((one) => one.knows.length === 6)).toBe(true);
    const [first] = world.pods;
    if (first !== undefined) world.remove('Pod', first.name, first.uid, engine.agenda.nowMs);
    hint(world.hint());
    await until('it was degraded', () => world.phases.includes('Degraded'));
    await settles('Running');
    expect(world.resource?.status).toMatchObject({ readyNodes: '6/6' });
  });

  it('follows a change of what all shards share, and takes away what is no longer asked for', async () => {
    const { world, hint, until, settles } = stage();
    hint(world.apply());
    await settles('Running');
    hint(world.apply({ readService: { ...DEFAULT_SPEC.readService, enabled: true } }));
    await until('generation 2 is carried out', () => world.resource?.status['observedGeneration'] === 2);
    expect(Object.keys(world.objects)).toContain('Service/cache-read');
    hint(world.apply());
    await until('generation 3 is carried out', () => world.resource?.status['observedGeneration'] === 3);
    expect(Object.keys(world.objects)).not.toContain('Service/cache-read');
    expect(world.phases).toEqual(CREATION);
  });

  it('scales up, down, and changes replicas through the phases of the specification', async () => {
    const { world, hint, until, settles } = stage();
    const carried = (generation: number): Promise<void> =>
      until(
        `generation ${generation} is carried out`,
        () => world.resource?.status['observedGeneration'] === generation,
      );
    hint(world.apply());
    await settles('Running');
    world.phases.splice(0);
    hint(world.apply({ masters: 4 }));
    await carried(2);
    expect(world.phases).toEqual([
      'ScalingUpStatefulSet',
      'WaitingForNewPods',
      'AddingNodesToCluster',
      'RebalancingSlots',
      'ConfiguringNewReplicas',
      'VerifyingClusterHealth',
      'Running',
    ]);
    expect(sharesOf(world)).toEqual([4096, 4096, 4096, 4096]);
    world.phases.splice(0);
    hint(world.apply({ masters: 3 }));
    await carried(3);
    expect(world.phases).toEqual([
      'EvacuatingSlots',
      'RemovingNodesFromCluster',
      'ScalingDownStatefulSet',
      'VerifyingClusterHealth',
      'Running',
    ]);
    expect(sharesOf(world)).toEqual([5461, 5461, 5462]);
    expect(world.pods).toHaveLength(6);
    hint(world.apply({ replicasPerMaster: 2 }));
    await carried(4);
    expect(world.resource?.status).toMatchObject({ readyNodes: '9/9', readyReplicas: 6 });
    world.phases.splice(0);
    hint(world.apply());
    await carried(5);
    expect(world.phases).toEqual([
      'RemovingNodesFromCluster',
      'ScalingDownStatefulSet',
      'VerifyingClusterHealth',
      'Running',
    ]);
    expect(world.pods).toHaveLength(6);
    hint(world.apply({ masters: 5, replicasPerMaster: 0 }));
    await carried(6);
    expect(world.pods).toHaveLength(5);
    hint(world.apply({ masters: 3, replicasPerMaster: 2 }));
    await carried(7);
    expect(world.pods).toHaveLength(9);
    expect(sharesOf(world)).toEqual([5461, 5461, 5462]);
  });

  it('restarts one pod after the other for a setting that only a restart changes', async () => {
    const { world, hint, until, settles } = stage();
    hint(world.apply());
    await settles('Running');
    const before = new Set(world.pods.map((pod) => pod.uid));
    hint(world.apply({ resources: { requests: {}, limits: { memory: '2Gi' } } }));
    await until('generation 2 is carried out', () => world.resource?.status['observedGeneration'] === 2);
    expect(world.pods.filter((pod) => before.has(pod.uid))).toEqual([]);
    expect(world.resource?.status).toMatchObject({ readyNodes: '6/6', assignedSlots: '16384/16384' });
  });

  it('follows wishes that overtake each other in the middle', async () => {
    const { world, engine, hint, until, settles } = stage();
    hint(world.apply());
    await settles('Running');
    for (const masters of [5, 4, 6]) {
      hint(world.apply({ masters }));
      await engine.until(() => false, 1_300);
    }
    await until('generation 4 is carried out', () => world.resource?.status['observedGeneration'] === 4);
    expect(sharesOf(world).length).toBe(6);
    expect(Math.max(...sharesOf(world)) - Math.min(...sharesOf(world))).toBeLessThanOrEqual(1);
  });

  it.each([0, 500, 900, 1_200, 60_000])(
    'is deleted without a trace %i ms after it was wished for',
    async (afterMs) => {
      const { world, engine, hint, until } = stage();
      const persistence = { ...DEFAULT_SPEC.persistence, retention: 'Delete' as const };
      hint(world.apply({ persistence }));
      await engine.until(() => false, afterMs);
      hint(world.delete());
      await until('it is gone', () => world.resource === null && engine.open.length === 0);
      expect({ sets: world.sets, pods: world.pods, objects: world.objects }).toEqual({
        sets: [],
        pods: [],
        objects: {},
      });
    },
  );
});
