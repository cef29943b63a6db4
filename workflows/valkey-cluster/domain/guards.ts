import { allowed, blocked, unknown, type Guard, type Verdict } from '../../shared/guards.ts';
import type { ValkeyCommand, ValkeyPlan } from './commands.ts';
import { guardMemory } from './memory-guard.ts';
import { guardOverlap } from './plan-secrets.ts';
import type { MissingDependency, ValkeyClusterSpec, ValkeyNode, ValkeyPlaces } from './observation.ts';
import { countDoubled, countSlots, formatRanges, missingRanges } from './slots.ts';
import { count, viewShards, type ValkeyTopology } from './topology.ts';
import { runningTag } from '../../valkey-upgrade/domain/judgement.ts';
import { isOlder, parseVersion } from './version.ts';

/** All that guards judge by. An observation has everything; a file may have the nodes alone. */
export interface ValkeyFacts extends ValkeyTopology {
  readonly cluster: {
    readonly spec: ValkeyClusterSpec;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly missing?: readonly MissingDependency[];
  /** When they were looked at. */
  readonly places?: ValkeyPlaces;
}

export type ValkeyGuard = Guard<ValkeyFacts, ValkeyCommand>;

/** A guard that judges the plan as a whole, unless the cluster is being deleted: nothing may hold that up. */
const ofPlan = (name: string, judge: (facts: ValkeyFacts, plan: ValkeyPlan) => Verdict): ValkeyGuard => ({
  name,
  judge: (facts, plan, step) =>
    step !== null || plan.steps.length === 0 || plan.operation === 'delete' ? allowed : judge(facts, plan),
});

/** One that is asked again just before each step that cannot be undone. */
const ofPlanAndLastSteps = (
  name: string,
  judge: (facts: ValkeyFacts, plan: ValkeyPlan) => Verdict,
): ValkeyGuard => {
  const whole = ofPlan(name, judge);
  return {
    name,
    judge: (facts, plan, step) =>
      step === null || step.irreversible ? whole.judge(facts, plan, null) : allowed,
  };
};

/** A takeover is what brings slots and a majority back: it cannot wait for them. */
const has = (plan: ValkeyPlan, ...kinds: readonly ValkeyCommand['kind'][]): boolean =>
  plan.steps.some(
    (step) => kinds.includes(step.kind) && !(step.kind === 'HandOver' && step.takeOver !== undefined),
  );

/**
 * Nodes that lost sight of each other, as when all come back at other addresses, may each still claim what was theirs.
 * Once they meet, Valkey's own epochs decide; a plan that brings them together and moves nothing must not wait for it.
 */
const isReunion = (health: ValkeyFacts['health'], plan: ValkeyPlan): boolean =>
  health?.viewsAgree === false &&
  has(plan, 'MeetNode') &&
  !has(plan, 'MigrateSlots', 'HandOver', 'RestartPod', 'RemoveShard', 'RemoveReplica');

/** Everything that may hold a plan up, one row each. */
export const GUARDS: readonly ValkeyGuard[] = [
  ofPlan('DependenciesExist', ({ missing, cluster }) => {
    const { auth, tls } = cluster.spec;
    if (missing === undefined) {
      return auth === undefined && tls === undefined
        ? allowed
        : unknown('the Secrets and issuers that the spec names');
    }
    if (missing.length === 0) return allowed;
    return blocked(missing.map(({ field, message }) => `${field}: ${message}`).join('; '), {
      missing: missing.length,
    });
  }),

  ofPlan('OneMasterPerShard', ({ nodes, health }, plan) => {
    if (isReunion(health, plan) || plan.operation === 'rotate') return allowed;
    const split = viewShards({ nodes }).find(({ shard }) => servingNodes(nodes, shard).length > 1);
    if (split === undefined) return allowed;
    const pods = servingNodes(nodes, split.shard).map((node) => node.pod);
    return blocked(
      `shard ${split.shard} has ${pods.length} masters with slots (${pods.join(', ')}): move the slots of all but one by hand, then retry`,
      { shard: split.shard, masters: pods.length },
    );
  }),

  ofPlanAndLastSteps('SlotsServedOnce', ({ nodes, health }, plan) => {
    if (isReunion(health, plan) || plan.operation === 'rotate') return allowed;
    const doubled = countDoubled(nodes.map((node) => node.slots));
    return doubled === 0
      ? allowed
      : blocked(`${count(doubled, 'slot')} are claimed by two nodes: wait until the nodes agree`, {
          doubled,
        });
  }),

  ofPlanAndLastSteps('SlotsCovered', ({ nodes }, plan) => {
    if (!has(plan, 'MigrateSlots', 'HandOver', 'RestartPod', 'RemoveShard', 'RemoveReplica')) return allowed;
    // A way back may be what brings a node with slots back.
    if (plan.operation === 'create' || plan.operation === 'rollback') return allowed;
    const gaps = missingRanges(nodes.flatMap((node) => node.slots));
    if (gaps.length === 0) return allowed;
    const message = `slots ${formatRanges(gaps)} are served by no node: nothing moves, restarts or leaves before they are`;
    return blocked(message, { slots: countSlots(gaps) });
  }),

  ofPlanAndLastSteps('MajorityOfMasters', ({ nodes }, plan) => {
    if (plan.operation === 'create' || !has(plan, 'MigrateSlots', 'HandOver', 'ForgetNode', 'RemoveShard')) {
      return allowed;
    }
    const masters = nodes.filter((node) => node.role === 'master' && node.slots.length > 0);
    const reachable = masters.filter((node) => node.ready).length;
    return reachable * 2 > masters.length
      ? allowed
      : blocked(
          `${reachable} of ${count(masters.length, 'master')} can be reached, and a majority must: bring their pods back first`,
          { masters: masters.length, reachable },
        );
  }),

  ofPlan('MemoryHeadroom', guardMemory),

  ofPlan('PasswordOverlap', guardOverlap),

  ofPlan('EligibleNodes', ({ places, cluster, shards = [] }, plan) => {
    const grows = plan.steps.some(
      (step) =>
        step.kind === 'CreateShard' &&
        step.pods > (shards.find((set) => set.shard === step.shard)?.replicas ?? 0),
    );
    if (!grows) return allowed;
    if (places === undefined) return unknown('the nodes of Kubernetes that may take a pod');
    if (places.eligible.length > 0) return allowed;
    const { nodeSelector } = cluster.spec.scheduling;
    const selector = Object.entries(nodeSelector).map(([key, value]) => `${key}=${value}`);
    const why = selector.length === 0 ? '' : `, asked for by ${selector.join(', ')}`;
    return blocked(
      `of ${count(places.machines, 'node')} none may take a pod of this cluster${why}: each is cordoned, tainted, not ready or lacks a label; change spec.scheduling, or add a node`,
      { nodes: places.machines, eligible: 0 },
    );
  }),

  ofPlan('NoDowngrade', ({ nodes, cluster, shards = [], pods }, plan) => {
    const { allowDowngrade } = cluster.spec.image;
    // An upgrade says itself which version it sets; its way back leads to what ran before.
    const tag = plan.operation === 'upgrade' ? upgradeTag(plan) : cluster.spec.image.tag;
    const wanted = parseVersion(tag);
    if (wanted === null || allowDowngrade || nodes.length === 0 || plan.operation === 'rollback')
      return allowed;
    if (!has(plan, 'CreateShard', 'RestartPod')) return allowed;
    // Where an upgrade left the shards with different versions, each keeps its own.
    const differ =
      shards.length > 0 && runningTag({ shards, ...(pods === undefined ? {} : { pods }) }) === null;
    if (differ && plan.operation !== 'upgrade') return allowed;
    const running = nodes.flatMap((node) => node.version ?? []);
    if (running.length === 0) return unknown('the version of each node');
    const newer = running.find((version) => isOlder(wanted, parseVersion(version)));
    if (newer === undefined) return allowed;
    return blocked(
      `spec.image.tag ${tag} is older than ${newer}, which runs, and may not read its data: set spec.image.allowDowngrade if it must be`,
    );
  }),
];

const upgradeTag = (plan: ValkeyPlan): string =>
  plan.steps.flatMap((step) => (step.kind === 'CreateShard' ? (step.tag ?? []) : []))[0] ?? '';

const servingNodes = (nodes: readonly ValkeyNode[], shard: number): readonly ValkeyNode[] =>
  nodes.filter((node) => node.shard === shard && node.role === 'master' && node.slots.length > 0);
