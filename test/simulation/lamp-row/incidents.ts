import type { FailureCode } from '../../../workflows/shared/failure-codes.ts';
import type { Random } from '../engine/random.ts';
import type { ActivityName } from './world.ts';

/** Something that people, accidents or the trigger service do to a row. */
export type Deed =
  | { readonly do: 'wish'; readonly wanted: number; readonly hinted: boolean }
  | { readonly do: 'approvals'; readonly on: boolean }
  | { readonly do: 'reader'; readonly there: boolean }
  | { readonly do: 'break' | 'delete' | 'replace' | 'vanish' }
  | { readonly do: 'pause' | 'resume' | 'cancel' | 'retry' | 'approve' }
  | { readonly do: 'hint'; readonly generation: number; readonly of: 'this' | 'an earlier' | 'another kind' }
  | { readonly do: 'nonsense' }
  | {
      readonly do: 'fail';
      readonly activity: ActivityName;
      readonly code: FailureCode;
      readonly times: number;
    }
  | { readonly do: 'crash'; readonly awayMs: number }
  | { readonly do: 'cancel-workflow' | 'terminate-operation' | 'terminate-entity' };

/** A deed and its time. */
export type Incident = Deed & { readonly atMs: number };

const ACTIVITIES = [
  'observeLampRow',
  'screwInLamp',
  'awaitLampWarm',
  'unscrewLamp',
  'discardLamp',
  'releaseLampRow',
  'reportLampRow',
  'announceLampRow',
] as const;

const CODES = [
  'KubernetesUnavailable',
  'KubernetesConflict',
  'PodsNotReady',
  'GenerationMoved',
  'ResourceGone',
  'DependencyMissing',
  'KubernetesForbidden',
] as const;

const DEEDS: readonly [(random: Random) => Deed, ...((random: Random) => Deed)[]] = [
  (random) => ({ do: 'wish', wanted: random.between(1, 6), hinted: random.chance(0.8) }),
  (random) => ({ do: 'wish', wanted: random.between(0, 9), hinted: random.chance(0.8) }),
  (random) => ({ do: 'approvals', on: random.chance(0.5) }),
  (random) => ({ do: 'reader', there: random.chance(0.5) }),
  (random) => ({ do: random.pick(['break', 'break', 'delete', 'replace', 'vanish']) }),
  (random) => ({ do: random.pick(['pause', 'resume', 'cancel', 'retry', 'approve']) }),
  (random) => ({ do: random.pick(['resume', 'cancel', 'retry', 'approve', 'approve']) }),
  (random) => ({
    do: 'hint',
    generation: random.between(1, 9),
    of: random.pick(['this', 'an earlier', 'another kind']),
  }),
  () => ({ do: 'nonsense' }),
  (random) => ({
    do: 'fail',
    activity: random.pick(ACTIVITIES),
    code: random.pick(CODES),
    times: random.between(1, 4),
  }),
  (random) => ({ do: 'crash', awayMs: random.between(1, 5_000) }),
  (random) => ({ do: random.pick(['cancel-workflow', 'terminate-operation', 'terminate-entity']) }),
];

/** Makes up what happens within the first minutes, close together and far apart. */
export function composeIncidents(random: Random): readonly Incident[] {
  let atMs = 0;
  return Array.from({ length: random.between(1, 14) }, () => {
    atMs += random.chance(0.7) ? random.between(0, 400) : random.between(400, 40_000);
    return { ...random.pick(DEEDS)(random), atMs };
  });
}

/** An incident in words. */
export function tellIncident({ atMs, ...deed }: Incident): string {
  const { do: what, ...rest } = deed;
  return `${(atMs / 1000).toFixed(3).padStart(8)} s  ${what} ${JSON.stringify(rest)}`;
}
