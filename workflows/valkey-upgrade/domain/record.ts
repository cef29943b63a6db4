import type { Condition } from '../../shared/messages.ts';
import type { Json } from '../../shared/plan.ts';
import { transition } from '../../shared/transitions.ts';
import { phaseOf } from './judgement.ts';
import { isOver, UPGRADE_TABLE, type UpgradeEvent, type UpgradePhase } from './phases.ts';
import type { ShardStatus, Strategy, ValkeyUpgradeResource } from './resource.ts';
import { WORKING } from './shard-states.ts';

/** All that is told of an upgrade; the status is built from it, and it can be read back from the status. */
export interface UpgradeRecord {
  readonly generation: number;
  readonly phase: UpgradePhase;
  readonly targetVersion: string;
  readonly fromTag: string | null;
  readonly strategy: Strategy | null;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly errorMessage: string | null;
  readonly replicasPerMaster: number | null;
  readonly shards: readonly ShardStatus[];
  /** Until when there is a way back, in words; null before it begins. */
  readonly rollbackPossibleUntil: string | null;
  /** Whether the nodes said that the cluster is ok, when they were last asked. */
  readonly serving: boolean | null;
  /** One word and one sentence on what is going on or what is waited for. */
  readonly reason: string;
  readonly message: string;
}

/** The record of an upgrade as its status has it. */
export const recordOf = (upgrade: ValkeyUpgradeResource): UpgradeRecord => ({
  generation: upgrade.generation,
  phase: phaseOf(upgrade),
  targetVersion: upgrade.spec.targetVersion,
  fromTag: upgrade.status?.fromTag ?? null,
  strategy: upgrade.spec.strategy ?? null,
  startedAt: upgrade.status?.startedAt ?? null,
  completedAt: null,
  errorMessage: upgrade.status?.errorMessage ?? null,
  replicasPerMaster: upgrade.status?.replicasPerMaster ?? null,
  // One that begins anew has nothing behind it.
  shards: phaseOf(upgrade) === 'Pending' ? [] : (upgrade.status?.shardStatuses ?? []),
  rollbackPossibleUntil: null,
  serving: null,
  reason: phaseOf(upgrade),
  message: '',
});

/** The record after an event; one that the table does not have is a mistake of ours, and told. */
export function advance(record: UpgradeRecord, event: UpgradeEvent): UpgradeRecord {
  const outcome = transition(UPGRADE_TABLE, record.phase, event);
  if (!outcome.moved) throw new Error(`upgrade: ${outcome.refusal}`);
  return { ...record, phase: outcome.to, reason: outcome.to };
}

/** The record with what a shard says of itself. */
export const withShard = (record: UpgradeRecord, shard: ShardStatus): UpgradeRecord => ({
  ...record,
  shards: [...record.shards.filter((one) => one.shardIndex !== shard.shardIndex), shard].toSorted(
    (a, b) => a.shardIndex - b.shardIndex,
  ),
});

/** The shards that a person wanted left out. */
export const leftOutOf = (shards: readonly ShardStatus[]): readonly number[] =>
  shards.flatMap((one) => (one.skippedBecause === undefined ? [] : one.shardIndex));

/** Everything in the status of an upgrade but the conditions. */
export function buildUpgradeStatus(record: UpgradeRecord): Readonly<Record<string, Json>> {
  const { shards, fromTag, targetVersion } = record;
  const isDone = (one: ShardStatus): boolean => one.status === 'Completed' || one.status === 'Skipped';
  const done = shards.filter((one) => isDone(one) && one.skippedBecause === undefined).length;
  const current = shards.find(({ status }) => WORKING.includes(status));
  const present = {
    strategy: record.strategy,
    fromTag,
    currentVersion: fromTag,
    startedAt: record.startedAt,
    completedAt: record.completedAt,
    errorMessage: record.errorMessage,
    rollbackPossibleUntil: record.rollbackPossibleUntil,
    replicasPerMaster: record.replicasPerMaster,
    syncStartedAt: current?.syncStartedAt ?? null,
    syncElapsedSeconds: current?.syncElapsedSeconds ?? null,
    podReadyStartedAt: current?.podReadyStartedAt ?? null,
    podReadyElapsedSeconds: current?.podReadyElapsedSeconds ?? null,
  };
  return {
    phase: record.phase,
    observedGeneration: record.generation,
    targetVersion,
    message: record.message,
    progress: shards.length === 0 ? '' : `${done}/${shards.length}`,
    totalShards: shards.length,
    upgradedShards: done,
    failedShards: shards.filter(({ status }) => status === 'Failed').length,
    currentShard: current?.shardIndex ?? -1,
    shardStatuses: shards as unknown as Json,
    ...(Object.fromEntries(Object.entries(present).filter(([, value]) => value !== null)) as Record<
      string,
      Json
    >),
  };
}

/** The specification's four conditions of an upgrade. */
export function buildUpgradeConditions(record: UpgradeRecord): readonly Condition[] {
  const { phase, reason, message, errorMessage, generation, serving } = record;
  const said = message === '' ? describe(record) : message;
  const under = !isOver(phase) && (phase === 'InProgress' || phase === 'RollingBack');
  const bad = phase === 'Failed' || phase === 'RollingBack' || phase === 'RolledBack';
  const say = (type: string, holds: boolean, why: string, words: string): Condition => ({
    type,
    status: holds ? 'True' : 'False',
    reason: why,
    message: words,
    observedGeneration: generation,
  });
  return [
    say('Ready', phase === 'Completed', reason, said),
    say('Progressing', under, reason, said),
    say('Degraded', bad, bad ? reason : 'NotDegraded', bad ? (errorMessage ?? said) : 'nothing has failed'),
    {
      ...say(
        'Available',
        serving === true,
        SERVING[String(serving)] ?? 'NotLooked',
        'as the nodes of the cluster say',
      ),
      ...(serving === null ? { status: 'Unknown' as const } : {}),
    },
  ];
}

const SERVING: Readonly<Record<string, string>> = { true: 'ClusterOk', false: 'ClusterDown' };

function describe({ phase, targetVersion, fromTag }: UpgradeRecord): string {
  const way = fromTag === null ? `to ${targetVersion}` : `from ${fromTag} to ${targetVersion}`;
  switch (phase) {
    case 'Completed':
      return `every node runs ${targetVersion}`;
    case 'RolledBack':
      return `every node runs ${fromTag ?? 'the old version'} again`;
    default:
      return `the upgrade ${way} is ${phase}`;
  }
}
