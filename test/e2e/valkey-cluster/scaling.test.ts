import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import { API_VERSION } from '../../../workflows/valkey-cluster/domain/names.ts';
import { Audit, type AuditReport } from '../../valkey/audit.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { connect, tellServers, viewServers, wrongWith } from '../../valkey/server-view.ts';
import { keelson } from '../starter/command-line.ts';
import { watchPhases } from './phase-watch.ts';

const BASE = {
  auth: { secretRef: { name: 'cache-auth' } },
  persistence: { size: '64Mi', retention: 'Delete' },
} as const;

/** The resource as `kubectl scale` sees it. */
interface Scale {
  readonly spec: { readonly replicas: number };
  readonly status: { readonly replicas: number; readonly selector: string };
}

describe('a cluster that is written to all the while', () => {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await ClusterWorld.create(await useStack());
    await world.applyWithSecret(BASE);
    await world.awaitPhase('Running');
  });
  afterAll(() => world.remove());

  /** Makes a wish under load, and answers what the writers saw and which phases were shown. */
  async function change(
    spec: Readonly<Record<string, unknown>>,
    wish: () => Promise<unknown> = () => world.apply({ ...BASE, ...spec }),
  ): Promise<{ readonly report: AuditReport; readonly phases: readonly string[] }> {
    const audit = await Audit.start(world);
    const watch = watchPhases(world);
    try {
      await wish();
      await world.awaitPhase('Running');
    } finally {
      await watch.stop();
      await audit.stop();
    }
    const [phases, report] = [await watch.stop(), await audit.stop()];
    console.log(JSON.stringify({ spec, phases, ...report }));
    return { report, phases };
  }

  function nothingIsLost(report: AuditReport): void {
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(report.writes).toBeGreaterThan(100);
  }

  /** A status that is overtaken by the next one is never written: some may be missing, none is out of order. */
  function follows(phases: readonly string[], flow: readonly string[]): void {
    const seen = phases.filter((phase, at) => !(at === 0 && phase === 'Running'));
    expect(seen).toEqual(flow.filter((phase) => seen.includes(phase)));
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.at(-1)).toBe('Running');
  }

  const sharesOf = async (): Promise<readonly number[]> => {
    const [first] = await viewServers(world);
    return Object.values(first?.owners ?? {}).toSorted((a, b) => a - b);
  };

  it('grows from 3 to 4 masters by its subresource, as `kubectl scale` asks', async () => {
    const path = `/apis/${API_VERSION}/namespaces/${world.namespace}/valkeyclusters/${world.name}/scale`;
    const { spec, status } = await world.api.send<Scale>('GET', path);
    expect({ spec, replicas: status.replicas }).toMatchObject({ spec: { replicas: 3 }, replicas: 3 });
    const selector = encodeURIComponent(status.selector);
    const selected = await world.api.send<{ readonly items: readonly unknown[] }>(
      'GET',
      `/api/v1/namespaces/${world.namespace}/pods?labelSelector=${selector}`,
    );
    expect(selected.items).toHaveLength(6);
    const { report, phases } = await change({ masters: 4 }, () =>
      world.api.send('PATCH', path, { spec: { replicas: 4 } }, 'application/merge-patch+json'),
    );
    nothingIsLost(report);
    expect(await wrongWith(world, 4, 1)).toBeNull();
    expect(await sharesOf()).toEqual([4096, 4096, 4096, 4096]);
    follows(phases, [
      'ScalingUpStatefulSet',
      'WaitingForNewPods',
      'AddingNodesToCluster',
      'RebalancingSlots',
      'ConfiguringNewReplicas',
      'VerifyingClusterHealth',
      'Running',
    ]);
  });

  it('shrinks from 4 to 3 masters, and takes the pods and volumes of the fourth away', async () => {
    const { report, phases } = await change({ masters: 3 });
    nothingIsLost(report);
    expect(await wrongWith(world, 3, 1)).toBeNull();
    expect(await sharesOf()).toEqual([5461, 5461, 5462]);
    expect(await world.list('statefulsets')).toHaveLength(3);
    follows(phases, [
      'EvacuatingSlots',
      'RemovingNodesFromCluster',
      'ScalingDownStatefulSet',
      'VerifyingClusterHealth',
      'Running',
    ]);
  });

  it('is left uneven until somebody asks for a rebalance, and then is even', async () => {
    await makeUneven();
    await world.apply({ ...BASE, labels: { team: 'cache' } });
    await world.awaitPhase('Running');
    expect(await sharesOf()).not.toEqual([5461, 5461, 5462]);

    const audit = await Audit.start(world);
    const asked = await keelson(['rebalance', world.entityId], {
      KUBECONFIG: world.stack.kubeconfig('admin'),
    });
    expect(asked).toMatchObject({ code: 0, err: '' });
    await world.until(async () => {
      const shares = await sharesOf();
      return (await world.read())?.status?.rebalancedFor !== undefined
        ? { found: shares }
        : { missing: `an even cluster, not ${shares.join('/')}` };
    });
    nothingIsLost(await audit.stop());
    expect(await sharesOf()).toEqual([5461, 5461, 5462]);
    expect(await wrongWith(world, 3, 1)).toBeNull();
  });

  /** Moves slots by hand from one master to another, as somebody with `valkey-cli` would. */
  async function makeUneven(): Promise<void> {
    const [from, to] = (await viewServers(world)).filter((view) => view.role === 'master');
    const [source, target] = [connect(world, from?.ip ?? ''), connect(world, to?.ip ?? '')];
    const mine = String(await source.cluster('NODES')).match(/myself.* (\d+)-\d+/)?.[1] ?? '';
    const id = await target.cluster('MYID');
    await source.call('CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', mine, String(Number(mine) + 99), 'NODE', id);
    source.disconnect();
    target.disconnect();
    await world.until(async () => {
      const shares = (await viewServers(world)).map((view) => Math.min(...Object.values(view.owners)));
      return shares.every((least) => least <= 5362) ? { found: true } : { missing: 'all to hear of it' };
    });
  }

  it('gets a second replica for each master', async () => {
    const { report } = await change({ replicasPerMaster: 2 });
    nothingIsLost(report);
    expect(await wrongWith(world, 3, 2)).toBeNull();
  });

  it('gives the second replicas up again', async () => {
    const { report, phases } = await change({ replicasPerMaster: 1 });
    nothingIsLost(report);
    expect(await wrongWith(world, 3, 1)).toBeNull();
    follows(phases, [
      'RemovingNodesFromCluster',
      'ScalingDownStatefulSet',
      'VerifyingClusterHealth',
      'Running',
    ]);
  });

  it('takes settings that need no restart without one', async () => {
    const before = new Set((await world.list('pods')).map((pod) => pod.metadata.uid));
    const { report } = await change({
      persistence: { ...BASE.persistence, aof: { fsync: 'always' }, rdb: { saveRules: ['120 5'] } },
      replication: { minReplicasMaxLag: 7 },
    });
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    const values = await tellServers(world, async (client) => [
      ...((await client.config('GET', 'appendfsync')) as readonly string[]),
      ...((await client.config('GET', 'save')) as readonly string[]),
      ...((await client.config('GET', 'min-replicas-max-lag')) as readonly string[]),
    ]);
    const wanted = ['appendfsync', 'always', 'save', '120 5', 'min-replicas-max-lag', '7'];
    expect(values).toEqual(Array.from({ length: 6 }, () => wanted));
    expect((await world.list('pods')).every((pod) => before.has(pod.metadata.uid))).toBe(true);
  });

  it('restarts every pod for a changed field, one after the other', async () => {
    const before = new Set((await world.list('pods')).map((pod) => pod.metadata.uid));
    const { report } = await change({ resources: { limits: { memory: '512Mi' } } });
    nothingIsLost(report);
    expect(await wrongWith(world, 3, 1)).toBeNull();
    const after = (await world.list('pods')).map((pod) => pod.metadata.uid);
    expect(after.filter((uid) => before.has(uid))).toEqual([]);
  });
});
