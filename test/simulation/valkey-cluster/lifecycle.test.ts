import { describe, expect, it } from 'vitest';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { HOUR_MS, ID, openStage as stage, sharesOf } from './stage.ts';
import type { ValkeyWorld } from './world.ts';

const CREATION = [
  'Creating',
  'WaitingForPods',
  'InitializingCluster',
  'AssigningSlots',
  'ConfiguringReplicas',
  'VerifyingClusterHealth',
  'Running',
];

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

  it.each([200, 900, 1_500])(
    'goes back to what was there when its growth is cancelled after %i ms',
    async (afterMs) => {
      const { world, engine, hint, until, settles } = stage();
      hint(world.apply());
      await settles('Running');
      hint(world.apply({ masters: 4 }));
      await until('it runs', () => world.phases.includes('ScalingUpStatefulSet'));
      await engine.until(() => false, afterMs);
      await engine.update(ID, 'cancelOperation', { reason: 'not now' });
      await until('it was cancelled', () =>
        world.events.some((event) => event.startsWith('OperationCancelled: scale-up')),
      );
      expect(world.sets).toHaveLength(3);
      expect(sharesOf(world)).toEqual([5461, 5461, 5462]);
      expect(world.phases.at(-1)).toBe('Running');
    },
  );

  it('is what it is found to be while it is paused, too', async () => {
    const { world, engine, hint, until, settles } = stage();
    hint(world.apply());
    await settles('Running');
    await engine.update(ID, 'pause', { reason: 'a move' });
    const [first] = world.pods;
    if (first !== undefined) world.remove('Pod', first.name, first.uid, engine.agenda.nowMs);
    hint(world.hint());
    await until('it is degraded', () => world.phases.at(-1) === 'Degraded');
    expect(condition(world, 'Progressing')).toMatchObject({ status: 'False', reason: 'Paused' });
    await engine.update(ID, 'resume', {});
    await settles('Running');
  });

  it('stays what it is while a wish for more is held back', async () => {
    const { world, engine, hint, until, settles } = stage();
    hint(world.apply());
    await settles('Running');
    await engine.update(ID, 'pause', { reason: 'a move' });
    hint(world.apply({ masters: 4 }));
    await until('it says so', () => condition(world, 'Progressing')?.observedGeneration === 2);
    await engine.until(() => false, HOUR_MS);
    expect(world.phases).toEqual(CREATION);
    await engine.update(ID, 'resume', {});
    await until('generation 2 is carried out', () => world.resource?.status['observedGeneration'] === 2);
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
