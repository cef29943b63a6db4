import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHome, pathOf } from '../../../deploy/local/home.ts';
import { killNode, restoreNode } from '../../../deploy/local/kubelet/control.ts';
import { useStack } from '../../../deploy/local/testing.ts';
import type { EntityStatus } from '../../../workflows/shared/messages.ts';
import { Audit } from '../../valkey/audit.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { keySlot } from '../../valkey/key-slot.ts';
import { tellServers, viewServers, wrongWith } from '../../valkey/server-view.ts';

const SMALL = { persistence: { size: '64Mi', retention: 'Delete' } } as const;

let world: ClusterWorld;
beforeAll(async () => {
  world = await ClusterWorld.create(await useStack());
  await world.applyWithSecret(SMALL);
  await world.awaitPhase('Running');
});
afterAll(() => world.remove());

/** Waits until the cluster is whole again, its phase too, and everything that must be besides. */
const awaitWhole = (also: () => Promise<boolean> = () => Promise.resolve(true)): Promise<true> =>
  world.until(async () => {
    const wrong = await wrongWith(world, 3, 1).catch(String);
    const phase = (await world.read())?.status?.phase;
    return wrong === null && phase === 'Running' && (await also())
      ? { found: true }
      : { missing: `a whole cluster; ${wrong ?? ''}, phase ${phase ?? ''}` };
  });

/** Something that the trigger service tells of without being a new wish. */
const touch = (): Promise<unknown> => world.annotate('test/look', String(Date.now()));

const removePod = (name: string, gracePeriodSeconds = 0): Promise<unknown> =>
  world.api.send('DELETE', `/api/v1/namespaces/${world.namespace}/pods/${name}`, { gracePeriodSeconds });

const entity = async () => (await world.temporal()).workflow.getHandle(world.entityId);

/** Waits until a person is asked, approves what is planned, and answers what they were told. */
async function approveWhenAsked(): Promise<string> {
  const handle = await entity();
  const { message } = await world.until(async () => {
    const { waiting } = await handle.query<EntityStatus>('status');
    return waiting?.on === 'approval'
      ? { found: waiting }
      : { missing: `a wait for approval, not ${JSON.stringify(waiting)}` };
  });
  const plan = await handle.query<{ readonly hash: string; readonly steps: readonly object[] }>('plan');
  await handle.executeUpdate('approve', { args: [{ hash: plan.hash, by: 'a test', reason: 'it is off' }] });
  return `${message} ${JSON.stringify(plan.steps)}`;
}

describe('slots that somebody left half moved', () => {
  it('are moved to their end, or closed where they are, with every key', async () => {
    const [from, to] = (await viewServers(world)).filter((view) => view.role === 'master');
    const ids = new Map(await tellServers(world, async (client, pod) => [pod, await client.cluster('MYID')]));
    const [source, target] = [ids.get(from?.pod ?? '') ?? '', ids.get(to?.pod ?? '') ?? ''];
    const [both, half] = await tagsOf(from?.pod ?? '');
    await tellServers(world, async (client, pod) => {
      if (pod !== from?.pod) return;
      for (const key of [`{${both}}a`, `{${both}}b`, `{${half}}a`]) await client.set(key, key);
    });
    await tellServers(world, async (client, pod) => {
      if (pod !== to?.pod) return;
      for (const tag of [both, half])
        await client.cluster('SETSLOT', keySlot(`{${tag}}`), 'IMPORTING', source);
    });
    await tellServers(world, async (client, pod) => {
      if (pod !== from?.pod) return;
      await client.cluster('SETSLOT', keySlot(`{${both}}`), 'MIGRATING', target);
      const auth = ['AUTH', world.password] as const;
      await client.call('MIGRATE', to?.ip ?? '', '6379', `{${both}}a`, '0', '5000', ...auth);
    });
    await touch();
    await awaitWhole(async () =>
      (await tellServers(world, (client) => client.cluster('NODES'))).every(
        (text) => !String(text).includes('['),
      ),
    );
    const found = await tellServers(world, async (client, pod) => {
      if (pod === to?.pod) return [await client.get(`{${both}}a`), await client.get(`{${both}}b`)];
      return pod === from?.pod ? [await client.get(`{${half}}a`)] : [];
    });
    expect(new Set(found.flat())).toEqual(new Set([`{${both}}a`, `{${both}}b`, `{${half}}a`]));
  });

  /** Two tags whose slots a pod's server serves. */
  async function tagsOf(owner: string): Promise<readonly [string, string]> {
    const own = await tellServers(world, async (client, pod) =>
      pod === owner ? (/myself.* (\d+)-(\d+)$/m.exec(String(await client.cluster('NODES'))) ?? []) : [],
    );
    const [, first = 0, last = 0] = own.flat().map(Number);
    const mine = Array.from({ length: 1_000 }, (_, at) => `t${at}`).filter((tag) => {
      const slot = keySlot(`{${tag}}`);
      return first <= slot && slot <= last;
    });
    return [mine[0] ?? '', mine[1] ?? ''];
  }
});

describe('a replica that is lost with its volume', () => {
  it('comes back as a new node, and the old one is forgotten', async () => {
    const replica = (await viewServers(world)).find((view) => view.role === 'slave')?.pod ?? '';
    const [old] = (
      await tellServers(world, async (client, pod) => (pod === replica ? [await client.cluster('MYID')] : []))
    ).flat();
    const claim = `/api/v1/namespaces/${world.namespace}/persistentvolumeclaims/data-${replica}`;
    await world.api.send('DELETE', claim);
    await removePod(replica);
    const knowsOld = async (): Promise<boolean> =>
      (await tellServers(world, (client) => client.cluster('NODES'))).some((text) =>
        String(text).includes(String(old)),
      );
    await awaitWhole(async () => !(await knowsOld()));
  });
});

describe('a master that is lost with its volume while every pod restarts', () => {
  it('leaves all that its replica had confirmed: the replica is elected, and the new node follows it', async () => {
    const master = (await viewServers(world)).find((view) => view.role === 'master')?.pod ?? '';
    const audit = await Audit.start(world, { confirmedBy: 1, restMs: 5 });
    await audit.reached(501);
    const pods = await world.list('pods');
    const uids = new Set(pods.map((pod) => pod.metadata.uid));
    const claims = `/api/v1/namespaces/${world.namespace}/persistentvolumeclaims`;
    await world.api.send('DELETE', `${claims}/data-${master}`);
    await Promise.all(pods.map((pod) => removePod(pod.metadata.name)));
    await awaitWhole(async () => (await world.list('pods')).every((pod) => !uids.has(pod.metadata.uid)));
    const report = await audit.stop();
    console.log(JSON.stringify(report));
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(report.confirmed).toBeGreaterThan(100);
  });
});

describe('a majority of masters that does not come back', () => {
  it('is replaced by its replicas only when a person says so, with all that a replica had confirmed', async () => {
    const masters = (await viewServers(world)).filter((view) => view.role === 'master').slice(0, 2);
    const audit = await Audit.start(world, { confirmedBy: 1, restMs: 5 });
    await audit.reached(501);
    for (const { ip } of masters) signalServer(ip, 'SIGSTOP');
    try {
      expect(await approveWhenAsked()).toContain('without a vote');
      await world.until(async () => {
        const served = (await tellServers(world, (client) => client.cluster('INFO'))).map(String);
        return served.every((info) => /cluster_state:ok/.test(info) && /slots_ok:16384/.test(info))
          ? { found: true }
          : { missing: 'all slots to be served again' };
      });
    } finally {
      for (const { ip } of masters) signalServer(ip, 'SIGCONT');
    }
    await awaitWhole();
    const report = await audit.stop();
    console.log(JSON.stringify(report));
    expect(report).toMatchObject({ lost: [], wentBack: [] });
  });

  /** Freezes the server at an address, or lets it go on: its machine keeps the connections and answers nothing. */
  function signalServer(ip: string, signal: NodeJS.Signals): void {
    const pid = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .find((name) => readCommand(name).startsWith(`valkey-server ${ip}:`));
    if (pid === undefined) throw new Error(`no server runs at ${ip}`);
    process.kill(Number(pid), signal);
  }

  function readCommand(pid: string): string {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return ''; // It has ended between the look at the directory and this one.
    }
  }
});

describe('a pod that is Terminating on a machine that is lost', () => {
  it('is removed by force only when a person says so, and comes back elsewhere', async () => {
    const stateDir = pathOf.data(openHome(world.stack.home), 'nodes');
    const { replica, node } = await findLonelyReplica();
    await killNode(stateDir, node);
    try {
      await removePod(replica, 1);
      const told = await approveWhenAsked();
      expect(told).toContain(`${replica} is Terminating on ${node}`);
      await awaitWhole();
    } finally {
      await restoreNode(stateDir, node);
    }
    await awaitWhole();
  });

  /** A replica with a machine to itself: whoever shared it would be lost for as long as the machine is. */
  async function findLonelyReplica(): Promise<{ readonly replica: string; readonly node: string }> {
    const pods = (await world.list('pods')).map((pod) => ({
      name: pod.metadata.name,
      node: ((pod['spec'] ?? {}) as { readonly nodeName?: string }).nodeName ?? '',
    }));
    const replicas = (await viewServers(world)).filter((view) => view.role === 'slave');
    for (const { pod } of replicas) {
      const node = pods.find((one) => one.name === pod)?.node ?? '';
      if (pods.filter((one) => one.node === node).length === 1) return { replica: pod, node };
    }
    throw new Error(`no replica has a machine to itself: ${JSON.stringify(pods)}`);
  }
});
