import { allowed, blocked, unknown, type Verdict } from '../../shared/guards.ts';
import { parseQuantity } from '../../shared/quantity.ts';
import type { ValkeyGuard } from '../../valkey-cluster/domain/guards.ts';
import type { ValkeyObservation } from '../../valkey-cluster/domain/observation.ts';
import { countSlots, missingRanges, SLOT_COUNT } from '../../valkey-cluster/domain/slots.ts';
import { count } from '../../valkey-cluster/domain/topology.ts';
import { isUnderWay, judgeUpgrades } from './judgement.ts';

/** On a volume a save stands beside the data. */
const COPIES = 2;
/** While a copy is made, what clients write meanwhile needs memory too. */
const FULL = 0.9;

type Facts = Parameters<ValkeyGuard['judge']>[0] & Partial<ValkeyObservation>;

/** Asked before an upgrade begins; one that is under way goes on, whatever it finds. */
const before = (name: string, judge: (facts: Facts) => Verdict): ValkeyGuard => ({
  name,
  judge(facts: Facts, plan, step) {
    if (plan.operation !== 'upgrade' || step !== null) return allowed;
    const { cluster, shards = [], upgrades = [] } = facts;
    const { active } = judgeUpgrades({ cluster, shards, upgrades });
    return active !== null && isUnderWay(active) ? allowed : judge(facts);
  },
});

/** What must hold before an upgrade touches anything, one row each. */
export const PRE_CHECKS: readonly ValkeyGuard[] = [
  before('ClusterRunning', ({ cluster }) => {
    const { phase } = cluster as Partial<ValkeyObservation['cluster']>;
    if (phase === undefined) return unknown('status.phase of the cluster');
    return phase === 'Running' || phase === null
      ? allowed
      : blocked(`the cluster is ${phase}: the upgrade begins when it is Running`);
  }),

  before('ClusterOk', ({ health, nodes }) => {
    const missing = countSlots(missingRanges(nodes.flatMap((node) => node.slots)));
    if (missing > 0) return blocked(`${SLOT_COUNT - missing} of ${SLOT_COUNT} slots are served`);
    if (health === undefined) return unknown('what each node says of the cluster');
    if (!health.ok) return blocked('not every node says that the cluster is ok');
    return health.viewsAgree ? allowed : blocked('the nodes do not agree on the topology');
  }),

  before('ReplicasInSync', ({ nodes, health }) => {
    const replicas = nodes.filter((node) => node.role === 'replica');
    const behind = replicas.filter((node) => !node.ready || node.linkUp === false);
    if (behind.length > 0)
      return blocked(`${behind.map((node) => node.pod).join(', ')} is not in sync with its master`);
    return health === undefined && replicas.some((node) => node.linkUp === undefined)
      ? unknown('linkUp of every replica')
      : allowed;
  }),

  before('NothingMoves', ({ nodes, health }) => {
    const open = nodes.filter((node) => (node.openSlots ?? []).length > 0);
    if (open.length > 0)
      return blocked(
        `slots of ${count(open.length, 'node')} are on their way: a failover could lose what moves`,
      );
    // A look at the servers leaves out what is empty; a file may have left it out unseen.
    return health === undefined && nodes.some((node) => node.openSlots === undefined)
      ? unknown('openSlots of every node')
      : allowed;
  }),

  before('RoomForSync', ({ nodes, cluster }) => {
    if (nodes.some((node) => node.usedMemory === undefined)) return unknown('usedMemory of every node');
    const { persistence } = cluster.spec;
    const disk = persistence.enabled ? (parseQuantity(persistence.size) ?? Infinity) : Infinity;
    const isFull = ({ usedMemory = 0, maxMemory = 0 }: (typeof nodes)[number]): boolean =>
      (maxMemory > 0 && usedMemory > maxMemory * FULL) || usedMemory * COPIES > disk;
    const full = nodes.find((node) => node.role === 'master' && isFull(node));
    return full === undefined
      ? allowed
      : blocked(
          `${full.pod} has no room for another copy of its data: raise spec.resources.limits.memory or spec.persistence.size`,
        );
  }),
];
