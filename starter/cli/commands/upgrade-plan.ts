import { z } from 'zod';
import { judgePlan } from '../../../workflows/shared/guards.ts';
import { envelope, type PlanEnvelope } from '../../../workflows/shared/plan.ts';
import type { ValkeyCommand } from '../../../workflows/valkey-cluster/domain/commands.ts';
import { GUARDS } from '../../../workflows/valkey-cluster/domain/guards.ts';
import type { ValkeyNode } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { fillSpec } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { isOlder, parseVersion } from '../../../workflows/valkey-cluster/domain/version.ts';
import { judgeUpgrades } from '../../../workflows/valkey-upgrade/domain/judgement.ts';
import { planUpgrade } from '../../../workflows/valkey-upgrade/domain/plan.ts';
import { PRE_CHECKS } from '../../../workflows/valkey-upgrade/domain/pre-checks.ts';
import {
  DEFAULT_UPGRADE,
  isVersionTag,
  strategyOf,
  tagFor,
} from '../../../workflows/valkey-upgrade/domain/resource.ts';
import type {
  ValkeyUpgradeResource,
  ValkeyUpgradeSpec,
} from '../../../workflows/valkey-upgrade/domain/resource.ts';
import { badInput } from '../cli-error.ts';
import type { AskedPlan } from '../live-plan.ts';
import type { OfflineInput } from '../offline-plan.ts';
import { parse, readNodes, whole } from './valkey-nodes.ts';

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
const seconds = (minimum: number, maximum: number) =>
  whole(minimum, maximum, `it is from ${minimum} to ${maximum} seconds`).optional();

/** What the API server would refuse is refused here too, with the same limits. */
const resource = z.object({
  kind: z.literal('ValkeyUpgrade'),
  metadata: z.looseObject({ name: z.string().min(1), namespace: z.string().default('default') }),
  spec: z.strictObject({
    clusterRef: z.strictObject({
      name: z.string().min(1).max(53),
      namespace: z.string().max(63).optional(),
    }),
    targetVersion: z.string().refine(isVersionTag, 'it is no version: write it as 9.1.2'),
    replicationSyncTimeoutSeconds: seconds(1, DAY_SECONDS),
    podReadyTimeoutSeconds: seconds(1, DAY_SECONDS),
    stabilitySeconds: seconds(0, HOUR_SECONDS),
    strategy: z.enum(['InPlace', 'Surge']).optional(),
    approval: z.enum(['None', 'BeforeFirstFailover', 'EachShard', 'PointOfNoReturn']).optional(),
    bakeSeconds: seconds(0, 7 * DAY_SECONDS),
    rollbackOnFailure: z.boolean().optional(),
    maxUnavailableShards: whole(1, 100, 'from 1 to 100 shards may be disturbed at a time').optional(),
  }),
});

const readUpgrade = (manifest: unknown) => parse(resource, manifest, 'the ValkeyUpgrade');

/** What a dry run on the live cluster is asked. */
export function askUpgradePlan(manifest: unknown): { readonly of: string; readonly asked: AskedPlan } {
  const { metadata, spec } = readUpgrade(manifest);
  return { of: spec.clusterRef.name, asked: { upgrade: { name: metadata.name, spec } } };
}

/** The plan of an upgrade from files alone: the nodes tell the shape of the cluster, and the version that it runs. */
export function planUpgradeOffline(input: OfflineInput): PlanEnvelope<ValkeyCommand> {
  if (input.intent !== undefined) throw badInput('an upgrade has no intents', 'Leave --intent out.');
  if (input.resource === undefined)
    throw badInput('it is not said what is wanted', 'Give the ValkeyUpgrade with -f.');
  const { metadata, spec: told } = readUpgrade(input.resource);
  // Optional fields are absent, not undefined, where the API server fills them in.
  const present = Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined));
  const spec = { ...DEFAULT_UPGRADE, ...present } as ValkeyUpgradeSpec;
  const nodes = readNodes(input.observed);
  const shape = shapeOf(nodes);
  const cluster = fillSpec({ ...shape, image: { tag: shape.from } });
  refuse({ namespace: metadata.namespace, name: metadata.name, spec }, cluster);
  const { masters, replicasPerMaster, from } = shape;
  const plan = planUpgrade(
    { nodes },
    {
      from,
      to: tagFor(spec.targetVersion, from),
      masters,
      replicasPerMaster,
      strategy: strategyOf(spec, replicasPerMaster),
      maxUnavailableShards: spec.maxUnavailableShards,
    },
  );
  const verdicts = judgePlan([...GUARDS, ...PRE_CHECKS], { nodes, cluster: { spec: cluster } }, plan);
  return envelope('valkey-cluster', `${metadata.namespace}/${spec.clusterRef.name}`, plan, verdicts);
}

/** How many masters and replicas there are, and the version from which an upgrade of them goes on. */
function shapeOf(nodes: readonly ValkeyNode[]): {
  readonly masters: number;
  readonly replicasPerMaster: number;
  readonly from: string;
} {
  const masters = nodes.filter((node) => node.role === 'master' && node.slots.length > 0);
  if (masters.length === 0)
    throw badInput('what was observed cannot be used: no node is a master that serves slots');
  const replicas = nodes.filter((node) => node.role === 'replica').length;
  const versions = nodes.map((node) => node.version ?? '');
  const [from = ''] = versions.toSorted((a, b) => (isOlder(parseVersion(a), parseVersion(b)) ? -1 : 1));
  if (versions.includes('')) throw badInput('what was observed cannot be used: not every node has a version');
  return { masters: masters.length, replicasPerMaster: Math.round(replicas / masters.length), from };
}

/** What the workflow of the cluster would refuse is refused here too, in the same words. */
function refuse(
  { namespace, name, spec }: Pick<ValkeyUpgradeResource, 'namespace' | 'name' | 'spec'>,
  cluster: ReturnType<typeof fillSpec>,
): void {
  const upgrade = {
    namespace,
    name,
    uid: '',
    generation: 1,
    createdAt: '',
    deleting: false,
    spec,
    status: null,
  };
  // Nothing else of the cluster is judged by.
  const facts = { cluster: { spec: cluster }, shards: [], upgrades: [upgrade] };
  const [refused] = judgeUpgrades(facts as unknown as Parameters<typeof judgeUpgrades>[0]).refused;
  if (refused !== undefined) throw badInput(refused.message);
}
