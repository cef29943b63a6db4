import { withOwnTag } from '../valkey-upgrade/domain/shard-set.ts';
import { failure, failureOf } from '../shared/failures.ts';
import type { Performers } from '../shared/operation.ts';
import type { ValkeyTypes } from './contract.ts';
import { buildAccess, serversOf } from './domain/access.ts';
import type { ValkeyPlan, ValkeyStep } from './domain/commands.ts';
import { buildShardSet } from './domain/manifests.ts';
import type { ValkeyNode, ValkeyObservation } from './domain/observation.ts';
import { ordinalOf } from './domain/topology.ts';
import {
  applyObjects,
  masterOf,
  objectOf,
  podsOfShards,
  refuseServing,
  serverOf,
  type ValkeyRun,
} from './performers.ts';

/**
 * What a step needs for itself. A shard may give slots to several and take them from several at once: its server queues
 * the jobs. No handover or restart shares a group with a move, and the servers refuse it besides.
 */
export function partsOf(step: ValkeyStep): readonly string[] {
  switch (step.kind) {
    case 'MigrateSlots':
      return [`slots from shard ${step.from} to shard ${step.to}`];
    case 'HandOver':
    case 'RestartPod':
    case 'AttachReplica':
    case 'RemoveReplica':
    case 'RemoveShard':
      return [`shard ${step.shard}`];
    default:
      return [];
  }
}

/** How slots move, shards are handed over, and nodes that left are taken away. */
export const changePerformersOf = (
  run: ValkeyRun,
  plan: ValkeyPlan = run.input.plan,
): Performers<ValkeyTypes, 'MigrateSlots' | 'HandOver' | 'RemoveReplica'> => ({
  async MigrateSlots({ id, group, from, to, ranges }, summary) {
    const { observed } = run;
    const beside = plan.steps.flatMap((step) =>
      step.kind === 'MigrateSlots' && step.group === group && step.from === from && step.id !== id
        ? step.ranges
        : [],
    );
    const move = {
      access: buildAccess(observed.cluster),
      source: serverOf(observed, masterOf(observed, from)),
      servers: mastersOf(observed).map((node) => serverOf(observed, node)),
    };
    const target = serverOf(observed, masterOf(observed, to));
    try {
      return await run.port.wait(summary).migrateValkeySlots({ ...move, target, ranges, beside });
    } catch (error) {
      if (failureOf(error)?.code !== 'Cancelled') throw error;
      // The job would run on without us: whoever plans next must find every slot wholly where it is served.
      await run.port.shielded(() =>
        run.port.act(`what moves from shard ${from} is ended`).cancelValkeyMigrations({ ...move, ranges }),
      );
      throw error;
    }
  },

  async HandOver({ shard, to, takeOver }, summary) {
    const observed = await run.observe();
    const heir = observed.nodes.find((node) => node.pod === to);
    if (heir === undefined) throw failure('ValkeyPodReplaced', `${to} is not there any more`);
    if (takeOver !== undefined) {
      const lead = { access: buildAccess(observed.cluster), server: serverOf(observed, heir) };
      if (takeOver === true) return run.port.act(summary).takeOverValkeyMaster(lead);
      return run.port.wait(summary).electValkeyMaster(lead);
    }
    const asked = observed.nodes.filter((node) => node.ready && (node.shard === shard || isServing(node)));
    return run.port.wait(summary).handOverValkeyMaster({
      access: buildAccess(observed.cluster),
      server: serverOf(observed, heir),
      servers: asked.map((node) => serverOf(observed, node)),
    });
  },

  async RemoveReplica({ shard, pods }, summary) {
    const { cluster } = run.observed;
    const surplus = run.observed.pods.filter(
      (pod) => pod.shard === shard && (ordinalOf({ pod: pod.name, shard }) ?? 0) >= pods,
    );
    refuseServing(run.observed.nodes.filter((node) => surplus.some((pod) => pod.name === node.pod)));
    const set = buildShardSet(withOwnTag(run.observed, shard), shard);
    await applyObjects(run, [{ ...set, spec: { ...Object(set['spec']), replicas: pods } }], summary);
    const objects = surplus.map(({ name, uid }) => objectOf(cluster.namespace, 'Pod', name, uid));
    return run.port.wait(`${summary} (pods)`).deleteKubernetesObjects({ objects });
  },
});

/** How a pod of a running cluster is created anew: it comes back to its cluster, and in sync, before the next one goes. */
export const restartPerformersOf = (run: ValkeyRun): Performers<ValkeyTypes, 'RestartPod'> => ({
  async RestartPod({ shard, pod: name }, summary) {
    const { cluster, pods, shards } = run.observed;
    const leaving = pods.filter((pod) => pod.name === name);
    const objects = leaving.map(({ uid }) => objectOf(cluster.namespace, 'Pod', name, uid));
    await run.port.wait(summary).deleteKubernetesObjects({ objects });
    await run.port.wait(`${summary} (Ready again)`).awaitKubernetesPods({
      namespace: cluster.namespace,
      selector: podsOfShards(cluster.name, [shard]),
      count: shards.find((set) => set.shard === shard)?.replicas ?? 1,
    });
    const access = buildAccess(cluster);
    const returned = await run.observe();
    const servers = serversOf(returned.pods.filter((pod) => pod.ready));
    await run.port.wait(`${summary} (known again)`).meetValkeyNodes({ access, servers });
    const known = await run.observe();
    const master = masterOf(known, shard);
    const node = known.nodes.find((one) => one.pod === name);
    if (node === undefined || node.id === master.id) return {};
    const server = serverOf(known, node);
    return run.port
      .wait(`${summary} (in sync again)`)
      .attachValkeyReplica({ access, server, masterId: master.id });
  },
});

const isServing = (node: ValkeyNode): boolean => node.role === 'master' && node.slots.length > 0;

/** All masters that serve slots or are about to: all of them must hear who serves what. */
const mastersOf = ({ nodes }: ValkeyObservation): readonly ValkeyNode[] =>
  nodes.filter((node) => node.ready && node.role === 'master');
