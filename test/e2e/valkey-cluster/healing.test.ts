import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import { Audit, type AuditReport } from '../../valkey/audit.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { tellServers, viewServers, wrongWith } from '../../valkey/server-view.ts';

describe('a cluster of which something is lost while it is written to', () => {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await ClusterWorld.create(await useStack());
    await world.applyWithSecret({ persistence: { size: '64Mi', retention: 'Delete' } });
    await world.awaitPhase('Running');
  });
  afterAll(() => world.remove());

  /** Ends pods as the loss of their machine would, without a word of goodbye. */
  const kill = (names: readonly string[]): Promise<unknown> =>
    Promise.all(
      names.map((name) =>
        world.api.send('DELETE', `/api/v1/namespaces/${world.namespace}/pods/${name}`, {
          gracePeriodSeconds: 0,
        }),
      ),
    );

  /** Waits until other pods stand under these names, and the cluster is whole with them. */
  async function awaitHealed(killed: ReadonlySet<string>): Promise<void> {
    await world.until(async () => {
      const uids = (await world.list('pods')).map((pod) => pod.metadata.uid ?? '');
      if (uids.length < 6 || uids.some((uid) => killed.has(uid)))
        return { missing: 'six pods, all new ones' };
      const wrong = await wrongWith(world, 3, 1).catch(String);
      const phase = (await world.read())?.status?.phase;
      return wrong === null && phase === 'Running'
        ? { found: true }
        : { missing: `a whole cluster; ${wrong ?? ''}, phase ${phase ?? ''}` };
    });
  }

  const uidsOf = async (names: readonly string[]): Promise<ReadonlySet<string>> => {
    const pods = await world.list('pods');
    const chosen = pods.filter((pod) => names.includes(pod.metadata.name));
    return new Set(chosen.map((pod) => pod.metadata.uid ?? ''));
  };

  /** Kills pods under load, and answers what became of everything that was written. */
  async function lose(names: readonly string[]): Promise<AuditReport> {
    const killed = await uidsOf(names);
    const audit = await Audit.start(world, { confirmedBy: 1 });
    try {
      await audit.reached(200);
      await kill(names);
      await awaitHealed(killed);
    } finally {
      await audit.stop();
    }
    const report = await audit.stop();
    console.log(JSON.stringify({ killed: names, ...report }));
    return report;
  }

  it('keeps what a replica had confirmed when a master is killed', async () => {
    const master = (await viewServers(world)).find((view) => view.role === 'master');
    const report = await lose([master?.pod ?? '']);
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(report.confirmed).toBeGreaterThan(100);
  });

  it('does not forget a replica whose pod waits for a place, which comes back as the same node', async () => {
    const replica = (await viewServers(world)).find((view) => view.role === 'slave')?.pod ?? '';
    const idOf = async (): Promise<string> => {
      const ids = await tellServers(world, async (client, pod) =>
        pod === replica ? client.cluster('MYID') : '',
      );
      return ids.find((id) => id !== '') ?? '';
    };
    const before = await idOf();
    const killed = await uidsOf([replica]);
    await cordon(true);
    try {
      await kill([replica]);
      await world.until(async () => {
        const phase = (await world.read())?.status?.phase;
        return phase === 'Degraded' ? { found: true } : { missing: `the loss to be noticed, not ${phase}` };
      });
      const known = await tellServers(world, (client) => client.cluster('NODES'));
      expect(known.map((nodes) => String(nodes).includes(before))).toEqual(
        Array.from({ length: 5 }, () => true),
      );
    } finally {
      await cordon(false);
    }
    await awaitHealed(killed);
    expect(await idOf()).toBe(before);
  });

  /** Lets no node take a pod, or lets them again. */
  async function cordon(unschedulable: boolean): Promise<void> {
    const { items } = await world.api.send<{ items: readonly { metadata: { name: string } }[] }>(
      'GET',
      '/api/v1/nodes',
    );
    await Promise.all(
      items.map(({ metadata }) =>
        world.api.send(
          'PATCH',
          `/api/v1/nodes/${metadata.name}`,
          { spec: { unschedulable } },
          'application/merge-patch+json',
        ),
      ),
    );
  }

  it('comes back with all of that when every pod is killed at once, at other addresses', async () => {
    const report = await lose((await world.list('pods')).map((pod) => pod.metadata.name));
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(report.confirmed).toBeGreaterThan(100);
  });
});
