import { z } from 'zod';
import { judgePlan } from '../../../workflows/shared/guards.ts';
import { envelope, type Json, type PlanEnvelope } from '../../../workflows/shared/plan.ts';
import type { ValkeyCommand } from '../../../workflows/valkey-cluster/domain/commands.ts';
import { GUARDS } from '../../../workflows/valkey-cluster/domain/guards.ts';
import type { ValkeyNode } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { planValkeyCluster } from '../../../workflows/valkey-cluster/domain/plan.ts';
import { fillSpec } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { planUpgrade, type UpgradeWish } from '../../../workflows/valkey-upgrade/domain/plan.ts';
import { PRE_CHECKS } from '../../../workflows/valkey-upgrade/domain/pre-checks.ts';
import { isVersionOf, strategyOf } from '../../../workflows/valkey-upgrade/domain/resource.ts';
import { specForTag } from '../../../workflows/valkey-upgrade/domain/wish.ts';
import { badInput } from '../cli-error.ts';
import type { OfflineInput } from '../offline-plan.ts';
import { parse, readNodes, whole } from './valkey-nodes.ts';

const LIFECYCLE = 'valkey-cluster';

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
  const nodes = readNodes(input.observed);
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
  const verdicts = judgePlan([...GUARDS, ...PRE_CHECKS], facts, plan);
  return envelope(LIFECYCLE, `${metadata.namespace}/${metadata.name}`, plan, verdicts);
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
