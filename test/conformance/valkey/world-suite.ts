import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failureOf } from '../../../workflows/shared/failures.ts';
import type { ResourceRef } from '../../../workflows/shared/messages.ts';
import type { ValkeyTypes } from '../../../workflows/valkey-cluster/contract.ts';
import { buildAccess, serversOf } from '../../../workflows/valkey-cluster/domain/access.ts';
import { buildSharedObjects, buildShardSet } from '../../../workflows/valkey-cluster/domain/manifests.ts';
import type { ValkeyNode, ValkeyObservation } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { countSlots } from '../../../workflows/valkey-cluster/domain/slots.ts';
import { podsOfShards } from '../../../workflows/valkey-cluster/performers.ts';
import { until } from '../kubernetes/stage.ts';

/** A world with Kubernetes and Valkey in it, real or not, and the activities on it. */
export interface WorldStage {
  readonly ref: ResourceRef;
  readonly activities: ValkeyTypes['activities'];
  /** What the cluster's resource is, as activities name it. */
  readonly kind: { readonly apiVersion: string; readonly kind: string };
  /** Creates the resource, which nobody but the suite looks after. */
  create(spec: { readonly masters: number; readonly replicasPerMaster: number }): Promise<void>;
  close(): Promise<void>;
}

const SHARDS = [0, 1, 2];

/** What lifecycles rely on, one thing after the other on one cluster: a world that does otherwise proves nothing. */
export function worldSuite(open: () => Promise<WorldStage>): void {
  describe('a world of Kubernetes and Valkey', () => {
    let stage: WorldStage;
    beforeAll(async () => void (stage = await open()));
    afterAll(() => stage.close());

    const observe = async (): Promise<ValkeyObservation> => {
      const seen = await stage.activities.observeValkeyCluster(stage.ref);
      if (seen === null) throw new Error('the cluster is gone');
      return seen;
    };
    const owner = ({ cluster }: ValkeyObservation) => ({ ...stage.kind, ...stage.ref, uid: cluster.uid });
    const apply = async (shard: number, replicas: number, uid?: string): Promise<void> => {
      const seen = await observe();
      const set = buildShardSet(seen.cluster, shard);
      const objects = [
        ...buildSharedObjects(seen.cluster),
        { ...set, spec: { ...Object(set['spec']), replicas } },
      ];
      await stage.activities.applyKubernetesObjects({
        owner: { ...owner(seen), ...(uid === undefined ? {} : { uid }) },
        manager: 'keelson',
        objects,
        known: {},
      });
    };
    const awaitPods = (count: number): Promise<unknown> =>
      stage.activities.awaitKubernetesPods({
        namespace: stage.ref.namespace,
        selector: podsOfShards(stage.ref.name, SHARDS),
        count,
      });
    const nodeOf = (seen: ValkeyObservation, pod: string): ValkeyNode => {
      const node = seen.nodes.find((one) => one.pod === pod);
      if (node === undefined) throw new Error(`nobody answers in ${pod}`);
      return node;
    };
    const serverOf = (seen: ValkeyObservation, pod: string) => {
      const [server] = serversOf(seen.pods.filter((one) => one.name === pod));
      if (server === undefined) throw new Error(`there is no ${pod}`);
      return server;
    };
    const master = (shard: number): string => `${stage.ref.name}-${shard}-0`;
    const replica = (shard: number): string => `${stage.ref.name}-${shard}-1`;
    const codeOf = async (work: Promise<unknown>): Promise<string | null> =>
      work.then(
        () => null,
        (error: unknown) => failureOf(error)?.code ?? String(error),
      );

    test('has nothing before somebody creates it', async () => {
      expect(await stage.activities.observeValkeyCluster(stage.ref)).toBeNull();
      await stage.create({ masters: 3, replicasPerMaster: 1 });
      const seen = await observe();
      expect(seen).toMatchObject({ pods: [], nodes: [], shards: [] });
      expect(seen.cluster).toMatchObject({ generation: 1, deleting: false, phase: null });
    });

    test('brings as many pods as a set asks for, each with a server that knows nobody', async () => {
      for (const shard of SHARDS) await apply(shard, 2);
      await awaitPods(6);
      const seen = await observe();
      expect(seen.shards.map(({ shard, replicas }) => [shard, replicas])).toEqual(SHARDS.map((n) => [n, 2]));
      expect(seen.pods.map((pod) => pod.name).toSorted()).toEqual(
        SHARDS.flatMap((shard) => [master(shard), replica(shard)]),
      );
      expect(new Set(seen.nodes.map((node) => node.id)).size).toBe(6);
      expect(seen.nodes.every((node) => node.role === 'master' && node.slots.length === 0)).toBe(true);
      expect(seen.health).toMatchObject({ ok: false, slotsAssigned: 0, viewsAgree: false });
    });

    test('changes nothing when the same is applied again', async () => {
      const before = await observe();
      await apply(0, 2);
      await awaitPods(6);
      expect((await observe()).pods.map((pod) => pod.uid)).toEqual(before.pods.map((pod) => pod.uid));
    });

    test('refuses what is applied for a resource that is another one now', async () => {
      expect(await codeOf(apply(0, 2, '00000000-0000-4000-8000-000000000000'))).toBe('ResourceReplaced');
    });

    test('lets nodes meet, keeps who they are, and serves what each is given, once', async () => {
      const seen = await observe();
      const access = buildAccess(seen.cluster);
      const { nodeIds } = await stage.activities.meetValkeyNodes({ access, servers: serversOf(seen.pods) });
      expect(nodeIds).toEqual(Object.fromEntries(seen.nodes.map((node) => [node.pod, node.id])));
      const shares = [[0, 5460] as const, [5461, 10_922] as const, [10_923, 16_383] as const];
      const assign = (shard: number, range: readonly [number, number]) =>
        stage.activities.assignValkeySlots({
          access,
          server: serverOf(seen, master(shard)),
          ranges: [range],
        });
      for (const [shard, range] of shares.entries()) await assign(shard, range);
      expect(await assign(0, [0, 5460])).toEqual({ assigned: 5461 });
      // A node refuses what it knows to be another's, and gossip takes its time to tell it.
      await until(async () => ((await observe()).health.viewsAgree ? true : null));
      expect(await codeOf(assign(1, [0, 10]))).toBe('ValkeySlotBusy');
    });

    test('makes replicas follow, and is whole then', async () => {
      const seen = await observe();
      const access = buildAccess(seen.cluster);
      for (const shard of SHARDS)
        await stage.activities.attachValkeyReplica({
          access,
          server: serverOf(seen, replica(shard)),
          masterId: nodeOf(seen, master(shard)).id,
        });
      const servers = serversOf(seen.pods);
      await stage.activities.awaitValkeyHealth({ access, servers, masters: 3, replicasPerMaster: 1 });
      const whole = await observe();
      expect(whole.health).toMatchObject({ ok: true, slotsAssigned: 16_384, viewsAgree: true });
      for (const shard of SHARDS)
        expect(nodeOf(whole, replica(shard))).toMatchObject({
          role: 'replica',
          masterId: nodeOf(whole, master(shard)).id,
          slots: [],
        });
    });

    test('moves slots from one master to another, and finds them moved', async () => {
      const seen = await observe();
      const move = () =>
        stage.activities.migrateValkeySlots({
          access: buildAccess(seen.cluster),
          source: serverOf(seen, master(0)),
          target: serverOf(seen, master(1)),
          servers: SHARDS.map((shard) => serverOf(seen, master(shard))),
          ranges: [[0, 99]],
        });
      expect(await move()).toMatchObject({ slots: 100 });
      expect(await move()).toMatchObject({ slots: 100 });
      const moved = await observe();
      expect(countSlots(nodeOf(moved, master(0)).slots)).toBe(5361);
      expect(countSlots(nodeOf(moved, master(1)).slots)).toBe(5562);
      expect(moved.health.slotsAssigned).toBe(16_384);
    });

    test('hands a shard over to a replica, which the old master then follows', async () => {
      const seen = await observe();
      await stage.activities.handOverValkeyMaster({
        access: buildAccess(seen.cluster),
        server: serverOf(seen, replica(2)),
        servers: serversOf(seen.pods),
      });
      await stage.activities.awaitValkeyHealth({
        access: buildAccess(seen.cluster),
        servers: serversOf(seen.pods),
        masters: 3,
        replicasPerMaster: 1,
      });
      const after = await observe();
      const heir = nodeOf(after, replica(2));
      expect(heir).toMatchObject({ role: 'master', slots: [[10_923, 16_383]] });
      expect(nodeOf(after, master(2))).toMatchObject({ role: 'replica', masterId: heir.id, slots: [] });
    });

    test('refuses to make a replica of what serves slots', async () => {
      const seen = await observe();
      const attach = stage.activities.attachValkeyReplica({
        access: buildAccess(seen.cluster),
        server: serverOf(seen, master(0)),
        masterId: nodeOf(seen, master(1)).id,
      });
      expect(await codeOf(attach)).toBe('ValkeySlotBusy');
    });

    test('brings a pod that was deleted back under its name, as another one with the same node in it', async () => {
      const seen = await observe();
      const gone = seen.pods.find((pod) => pod.name === replica(0));
      if (gone === undefined) throw new Error('there is no such pod');
      const pod = { apiVersion: 'v1', kind: 'Pod', namespace: stage.ref.namespace, name: gone.name };
      await stage.activities.deleteKubernetesObjects({ objects: [{ ...pod, uid: gone.uid }] });
      await awaitPods(6);
      const back = await observe();
      const now = back.pods.find((one) => one.name === gone.name);
      expect(now?.uid).not.toBe(gone.uid);
      expect(now?.ip).not.toBe(gone.ip);
      expect(nodeOf(back, gone.name).id).toBe(nodeOf(seen, gone.name).id);
      // Another delete of the first pod finds it gone, and leaves the second alone.
      await stage.activities.deleteKubernetesObjects({ objects: [{ ...pod, uid: gone.uid }] });
      expect((await observe()).pods.find((one) => one.name === gone.name)?.uid).toBe(now?.uid);
    });

    test('forgets a node that leaves, and takes its pod away with the set that asks for fewer', async () => {
      const seen = await observe();
      const leaving = replica(1);
      const servers = serversOf(seen.pods.filter((pod) => pod.name !== leaving));
      const access = buildAccess(seen.cluster);
      await stage.activities.meetValkeyNodes({ access, servers: serversOf(seen.pods) });
      await stage.activities.forgetValkeyNodes({
        access,
        servers,
        leaving: [serverOf(seen, leaving)],
        nodeIds: [nodeOf(seen, leaving).id],
      });
      await apply(1, 1);
      await awaitPods(5);
      const after = await observe();
      expect(after.nodes).toHaveLength(5);
      expect(after.health).toMatchObject({ ok: true, slotsAssigned: 16_384 });
    });
  });
}
