import type { ValkeyTypes } from '../../../workflows/valkey-cluster/contract.ts';
import { failure } from '../../../workflows/shared/failures.ts';
import type { ValkeyNode, ValkeyObservation } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { contains, countSlots, joinRanges } from '../../../workflows/valkey-cluster/domain/slots.ts';
import { subtractRanges } from '../../../activities/valkey/slots.ts';
import { currentAttempt } from '../engine/attempts.ts';
import { tagOf, UPGRADE_KIND } from '../../../workflows/valkey-upgrade/domain/resource.ts';
import { REF, type ValkeyWorld, type WorldPod } from './world.ts';

const POLL_MS = 100;
const MOVE_MS = 800;
/** What is missing for so long does not come about by itself. */
const UNCHANGED_MS = 60_000;

/** The activities on the simulated world, each safe to repeat, as the real ones are. */
export function createSimulatedActivities(world: ValkeyWorld): ValkeyTypes['activities'] {
  const now = (): number => currentAttempt().nowMs();
  const idOf = ({ pod }: { readonly pod: string }): string => world.server(pod).id;
  const refuseReplaced = (servers: readonly { readonly pod: string; readonly podUid: string }[]): void => {
    const gone = servers.find(({ podUid }) => world.pods.every((pod) => pod.uid !== podUid));
    if (gone !== undefined) throw failure('ValkeyPodReplaced', `${gone.pod} is another pod now`);
  };
  return {
    observeValkeyCluster: async () => (world.resource === null ? null : observe(world, now())),
    async applyKubernetesObjects({ owner, objects }) {
      if (world.present().uid !== owner.uid) throw failure('ResourceReplaced', 'another cluster');
      if (owner.generation !== undefined && owner.generation < world.present().generation) {
        throw failure('GenerationMoved', 'a newer generation is wanted');
      }
      if (world.refused?.test(JSON.stringify(objects)) === true)
        throw failure('KubernetesForbidden', 'an admission webhook denied the request');
      for (const object of objects) world.put(object, now());
      return { uids: {} };
    },
    async deleteKubernetesObjects({ objects }) {
      for (const { kind, name, uid } of objects) world.remove(kind, name, uid, now());
      return { deleted: objects.length };
    },
    async awaitKubernetesPods({ selector, count }) {
      const shards = /in \(([\d,]+)\)/.exec(selector)?.[1]?.split(',').map(Number) ?? [];
      const others = /notin \(([^)]*)\)/.exec(selector)?.[1]?.split(',') ?? [];
      for (;;) {
        const pods = world.pods.filter((pod) => shards.includes(pod.shard) && !others.includes(pod.name));
        if (pods.length === count && pods.every((pod) => world.isReady(pod, now()))) return [];
        await currentAttempt().sleep(POLL_MS);
      }
    },
    async writeKubernetesStatus({ resource, status, conditions }) {
      if (resource.kind === UPGRADE_KIND) {
        world.upgrades.writeStatus(resource.uid, status, conditions);
        return;
      }
      const present = world.present();
      if (present.uid !== resource.uid) throw failure('ResourceReplaced', 'another cluster');
      present.status = status;
      present.conditions = conditions;
      const phase = typeof status['phase'] === 'string' ? status['phase'] : '';
      if (world.phases.at(-1) !== phase) world.phases.push(phase);
    },
    async recordKubernetesEvent({ reason, message }) {
      world.events.push(`${reason}: ${message}`);
    },
    async setKubernetesField({ from, to }) {
      const present = world.present();
      const { image } = present.spec;
      if (image.tag !== to && image.tag !== from) return { holds: false };
      if (image.tag !== to && typeof to === 'string') {
        present.spec = { ...present.spec, image: { ...image, tag: to } };
        present.generation += 1;
      }
      return { holds: true };
    },
    async removeKubernetesFinalizer({ resource }) {
      if (world.resource?.uid === resource.uid) world.resource = null;
    },
    async meetValkeyNodes({ servers }) {
      refuseReplaced(servers);
      const ids = servers.map(idOf);
      for (const server of servers) {
        const one = world.server(server.pod);
        one.knows = [...new Set([...one.knows, ...ids])];
      }
      return { nodeIds: Object.fromEntries(servers.map((server) => [server.pod, idOf(server)])) };
    },
    async assignValkeySlots({ server, ranges }) {
      const one = world.server(server.pod);
      const others = [...world.servers.values()].filter((other) => other !== one);
      if (
        countSlots(joinRanges([...others.flatMap((other) => other.slots), ...ranges])) !==
        countSlots(joinRanges(others.flatMap((other) => other.slots))) + countSlots(ranges)
      ) {
        throw failure('ValkeySlotBusy', 'a slot is served already');
      }
      if (!contains(one.slots, ranges)) one.slots = [...joinRanges([...one.slots, ...ranges])];
      return { assigned: countSlots(ranges) };
    },
    async attachValkeyReplica({ server, masterId }) {
      refuseReplaced([server]);
      world.elect(now());
      const one = world.server(server.pod);
      if (one.slots.length > 0) throw failure('ValkeySlotBusy', `${server.pod} serves slots`);
      const before = world.lost.find(({ id }) => id === one.masterId && id !== masterId);
      if (before !== undefined && before.slots.length > 0)
        throw failure('ValkeyNotConverged', `${server.pod} has the data of ${before.id}`);
      one.masterId = masterId;
      return { linkSeconds: 0.1 };
    },
    async migrateValkeySlots({ source, target, ranges }) {
      const [from, to] = [world.server(source.pod), world.server(target.pod)];
      const left = subtractRanges(ranges, to.slots);
      if (left.length > 0) await currentAttempt().sleep(MOVE_MS);
      if (from.masterId !== null || to.masterId !== null || !contains(from.slots, left))
        throw failure('ValkeySlotBusy', `slots are served by neither ${source.pod} nor ${target.pod}`);
      from.slots = [...subtractRanges(from.slots, left)];
      to.slots = [...joinRanges([...to.slots, ...left])];
      return { slots: countSlots(ranges), keys: 0, jobs: 1, slotsByKey: 0, seconds: MOVE_MS / 1_000 };
    },
    cancelValkeyMigrations: async () => ({ cancelled: 0, closed: 0 }),
    async handOverValkeyMaster({ server }) {
      refuseReplaced([server]);
      const heir = world.server(server.pod);
      const master = [...world.servers.values()].find((one) => one.id === heir.masterId);
      if (master === undefined) return { gapMs: 0, epoch: 1 };
      heir.slots = master.slots;
      heir.masterId = null;
      master.slots = [];
      for (const one of world.servers.values())
        if (one === master || one.masterId === master.id) one.masterId = one === heir ? null : heir.id;
      return { gapMs: 20, epoch: 1 };
    },
    configureValkeyServers: () => Promise.resolve({ changed: 0 }),
    addValkeyPassword: async ({ servers }) =>
      world.secrets.add(
        servers.map(({ pod }) => world.server(pod)),
        now(),
      ),
    dropValkeyPasswords: async ({ servers }) =>
      world.secrets.drop(servers.map(({ pod }) => world.server(pod))),
    applyValkeyAcl: () => Promise.resolve({ users: 0, removed: 0 }),
    async takeOverValkeyMaster({ server }) {
      throw failure('ValkeyPodReplaced', `${server.pod} is not to take over: here a majority is always left`);
    },
    async electValkeyMaster({ server }) {
      throw failure('ValkeyPodReplaced', `${server.pod} is not to take over: here heirs stand by themselves`);
    },
    async forgetValkeyNodes({ servers, leaving, nodeIds }) {
      refuseReplaced([...servers, ...leaving]);
      for (const { pod } of leaving) {
        const one = world.server(pod);
        if (!nodeIds.includes(one.id)) continue; // It was reset already.
        Object.assign(one, { id: world.serial('node'), knows: [], masterId: null });
      }
      for (const server of servers) {
        const one = world.server(server.pod);
        one.knows = one.knows.filter((id) => !nodeIds.includes(id));
      }
      return { forgotten: nodeIds.length };
    },
    async awaitValkeyStability({ servers, stableSeconds }) {
      const ids = (): readonly string[] => servers.map(idOf);
      const agree = (): boolean =>
        servers.every(({ pod }) => ids().every((id) => world.server(pod).knows.includes(id)));
      while (!agree() || world.strays().length > 0) {
        await currentAttempt().sleep(POLL_MS);
        refuseReplaced(servers);
      }
      await currentAttempt().sleep(stableSeconds * 1000);
      return { seconds: stableSeconds };
    },
    snapshotValkeyServer: async () => ({ savedAt: now() }),
    async awaitValkeyHealth({ servers }) {
      const endMs = now() + UNCHANGED_MS;
      for (;;) {
        const [stray] = world.strays();
        const words = stray === undefined ? 'the nodes do not agree' : `${stray.id} seems to fail`;
        const missing = stray === undefined && observe(world, now()).health.ok ? null : words;
        if (missing === null || now() >= endMs) return { slots: 16384, nodes: servers.length, missing };
        await currentAttempt().sleep(POLL_MS);
      }
    },
  };
}

function observe(world: ValkeyWorld, nowMs: number): ValkeyObservation {
  world.elect(nowMs);
  const { uid, generation, deleting, spec, status } = world.present();
  const nodes = world.pods.flatMap((pod) => (world.isReady(pod, nowMs) ? [nodeOf(world, pod)] : []));
  const slotsAssigned = countSlots(nodes.flatMap((node) => node.slots));
  const ids = nodes.map((node) => node.id);
  const agree = nodes.every((node) => ids.every((id) => world.server(node.pod).knows.includes(id)));
  const observedGeneration = status['observedGeneration'];
  return {
    cluster: {
      ...REF,
      uid,
      generation,
      deleting,
      finalizers: [],
      annotations: {},
      spec,
      phase: typeof status['phase'] === 'string' ? status['phase'] : null,
      observedGeneration: typeof observedGeneration === 'number' ? observedGeneration : 0,
    },
    shards: world.sets.map(({ shard, name, uid, replicas, image, applied }) => ({
      shard,
      name,
      uid,
      replicas,
      image,
      appliedHash: applied,
    })),
    pods: world.pods.map((pod) => podOf(world, pod, nowMs)),
    nodes,
    orphans: world.strays().map(({ id, slots }) => ({
      id,
      slots,
      address: '',
      role: slots.length > 0 ? 'master' : 'replica',
      failed: true,
      unreachable: true,
    })),
    health: {
      ok: agree && slotsAssigned === 16384,
      slotsAssigned,
      viewsAgree: agree,
      answered: nodes.length,
      unreachable: [],
    },
    missing: world.missingSecret
      ? [{ field: 'spec.auth.secretRef', message: 'Secret cache-auth does not exist' }]
      : [],
    owned: { ...world.objects },
    ...(spec.auth === undefined || nodes.length === 0
      ? {}
      : {
          secrets: world.secrets.observe(new Map(nodes.map(({ pod }) => [pod, world.server(pod)])), nowMs),
        }),
    upgrades: world.upgrades.list(),
  };
}

function nodeOf(world: ValkeyWorld, pod: WorldPod): ValkeyNode {
  const { id, masterId, slots } = world.server(pod.name);
  const role = masterId === null ? 'master' : 'replica';
  return {
    id,
    pod: pod.name,
    shard: pod.shard,
    role,
    masterId,
    slots,
    zone: 'a',
    ready: true,
    version: tagOf(pod.image),
  };
}

function podOf(world: ValkeyWorld, pod: WorldPod, nowMs: number): ValkeyObservation['pods'][number] {
  const { name, uid, shard, ip, image, hash } = pod;
  const ready = world.isReady(pod, nowMs);
  return {
    name,
    uid,
    shard,
    ip,
    node: 'node-1',
    zone: 'a',
    phase: ready ? 'Running' : 'Pending',
    ready,
    terminating: false,
    image,
    templateHash: hash,
    waiting: world.hasImage(pod) ? null : 'ErrImagePull: there is no such image',
    nodeId: ready ? world.server(name).id : null,
  };
}
