import { z } from 'zod';
import { judgePlan } from '../../../workflows/shared/guards.ts';
import { envelope, type Json, type PlanEnvelope } from '../../../workflows/shared/plan.ts';
import type { ValkeyCommand } from '../../../workflows/valkey-cluster/domain/commands.ts';
import { GUARDS } from '../../../workflows/valkey-cluster/domain/guards.ts';
import type { ValkeyNode } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { planValkeyCluster } from '../../../workflows/valkey-cluster/domain/plan.ts';
import { SLOT_COUNT } from '../../../workflows/valkey-cluster/domain/slots.ts';
import { fillSpec } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { planUpgrade, type UpgradeWish } from '../../../workflows/valkey-upgrade/domain/plan.ts';
import { isVersionOf, strategyOf } from '../../../workflows/valkey-upgrade/domain/resource.ts';
import { specForTag } from '../../../workflows/valkey-upgrade/domain/wish.ts';
import { badInput } from '../cli-error.ts';
import type { OfflineInput } from '../offline-plan.ts';

const LIFECYCLE = 'valkey-cluster';

const whole = (minimum: number, maximum: number, why: string): z.ZodInt =>
  z.int().min(minimum, why).max(maximum, why);

const slot = whole(0, SLOT_COUNT - 1, `a slot is from 0 to ${SLOT_COUNT - 1}`);
const range = z.tuple([slot, slot]).refine(([first, last]) => first <= last, 'a range is [first, last]');

const node = z.object({
  id: z.string().min(1),
  pod: z.string().default(''),
  shard: z.int().min(0, 'shards are numbered from 0'),
  role: z.enum(['master', 'replica']),
  masterId: z.string().nullish(),
  slots: z.array(range).default([]),
  zone: z.string().default(''),
  ready: z.boolean().default(true),
  usedMemory: z.number().min(0).optional(),
  maxMemory: z.number().min(0).optional(),
  keys: z.number().min(0).optional(),
  version: z.string().optional(),
  node: z.string().optional(),
  offset: z.number().optional(),
  linkUp: z.boolean().optional(),
});

const observed = z.object({
  nodes: z.array(node).refine((nodes) => new Set(nodes.map((one) => one.id)).size === nodes.length, {
    error: 'two nodes have the same id',
  }),
});

/** What the API server would refuse is refused here too, with the same limits. */
const resource = z.object({
  kind: z.literal('ValkeyCluster'),
  metadata: z.looseObject({
    name: z.string().min(1).max(53, 'choose a name of at most 53 characters'),
    namespace: z.string().default('default'),
    deletionTimestamp: z.string().optional(),
  }),
  spec: z
    .looseObject({
      masters: whole(3, 100, 'a cluster has from 3 to 100 masters').default(3),
      replicasPerMaster: whole(0, 5, 'a master has from 0 to 5 replicas').default(1),
      image: z.looseObject({ tag: z.string().min(1).optional() }).optional(),
      resources: z.looseObject({ limits: z.record(z.string(), z.string()).optional() }).optional(),
    })
    .refine(
      ({ masters, replicasPerMaster }) => masters * (1 + replicasPerMaster) <= 500,
      'masters * (1 + replicasPerMaster) is more than 500 nodes: lower one of them',
    ),
});

/** The plan of a Valkey cluster from files alone; a guard whose facts they lack is listed, and blocks nothing. */
export function planValkeyOffline(input: OfflineInput): PlanEnvelope<ValkeyCommand> {
  if (input.intent !== undefined) throw badInput('a Valkey cluster has no intents', 'Leave --intent out.');
  if (input.resource === undefined) {
    throw badInput('it is not said what is wanted', 'Give the ValkeyCluster with -f.');
  }
  const { metadata, spec } = parse(resource, input.resource, 'the ValkeyCluster');
  const nodes = parse(observed, input.observed, 'what was observed').nodes.map(withoutAbsent);
  const wish = {
    masters: spec.masters,
    replicasPerMaster: spec.replicasPerMaster,
    deleting: metadata.deletionTimestamp !== undefined,
  };
  const base = planValkeyCluster({ nodes }, wish);
  const upgrade = base.steps.length > 0 ? null : wishForTag(nodes, metadata.name, spec);
  const plan = upgrade === null ? base : planUpgrade({ nodes }, upgrade);
  // It was read from JSON or YAML, so it is nothing else.
  const facts = { nodes, cluster: { spec: fillSpec(spec as unknown as Json) } };
  return envelope(LIFECYCLE, `${metadata.namespace}/${metadata.name}`, plan, judgePlan(GUARDS, facts, plan));
}

/** A tag that the manifest names, and that no node runs yet, is reached by an upgrade with defaults. */
function wishForTag(
  nodes: readonly ValkeyNode[],
  name: string,
  { image, masters, replicasPerMaster }: z.infer<typeof resource>['spec'],
): UpgradeWish | null {
  const [from, ...others] = new Set(nodes.flatMap((one) => one.version ?? []));
  const to = image?.tag;
  if (to === undefined || from === undefined || others.length > 0 || isVersionOf(from, to)) return null;
  const { maxUnavailableShards, ...rest } = specForTag(name, to);
  const strategy = strategyOf({ ...rest, maxUnavailableShards }, replicasPerMaster);
  return { from, to, masters, replicasPerMaster, strategy, maxUnavailableShards };
}

function parse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join('.') ?? '';
  throw badInput(
    `${what} cannot be used: ${path === '' ? '' : `${path}: `}${issue?.message ?? 'it is malformed'}`,
  );
}

/** Optional facts are absent, not undefined. */
const withoutAbsent = (one: z.infer<typeof node>): ValkeyNode =>
  Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)) as unknown as ValkeyNode;
