import type { Condition } from '../../workflows/shared/messages.ts';
import { canonicalJson, type Json } from '../../workflows/shared/plan.ts';

/** A condition as it stands in a status. */
export interface TimedCondition extends Condition {
  readonly lastTransitionTime: string;
}

/** Gives each condition its time: the time at which its status last changed, not the time at which it is written. */
export function timeConditions(
  wanted: readonly Condition[],
  existing: readonly TimedCondition[],
  nowIso: string,
): readonly TimedCondition[] {
  return wanted.map(({ type, status, reason, message, observedGeneration }) => {
    const before = existing.find((one) => one.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : nowIso;
    return { type, status, reason, message, observedGeneration, lastTransitionTime };
  });
}

/** Whether the status says already what is to be written, and nothing that is to go. */
export function isStatusWritten(
  existing: Readonly<Record<string, Json | undefined>>,
  wanted: Readonly<Record<string, Json | undefined>>,
): boolean {
  const { conditions: had, ...before } = existing;
  const { conditions, ...fields } = wanted;
  const all = (had ?? []) as readonly Json[];
  const ours = (conditions ?? []) as readonly Json[];
  const present = new Set(all.map((condition) => canonicalJson(condition)));
  return (
    canonicalJson(before) === canonicalJson(fields) &&
    ours.every((condition) => present.has(canonicalJson(condition)))
  );
}

/** Drops nulls at any depth: the API server prunes them, so they would look like a change for ever. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withoutNulls(item));
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null && item !== undefined);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNulls(item as Json)]));
}
