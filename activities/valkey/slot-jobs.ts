import type { SlotRange } from '../../workflows/valkey-cluster/domain/observation.ts';
import type { ValkeyConnection } from './client.ts';
import { ValkeyError } from './errors.ts';
import { countSlots, intersectRanges } from './slots.ts';

/** One entry of `CLUSTER GETSLOTMIGRATIONS`: a job of atomic slot migration, running or over. */
export interface SlotJob {
  readonly name: string;
  readonly operation: 'EXPORT' | 'IMPORT';
  readonly ranges: readonly SlotRange[];
  readonly target: string;
  readonly createdAtSeconds: number;
  readonly state: string;
  readonly message: string;
  readonly remainingBytes: number;
}

/** What to do next with slots that have not arrived. */
export type NextMove =
  | { readonly how: 'adopt'; readonly job: SlotJob }
  | { readonly how: 'job'; readonly ranges: readonly SlotRange[] }
  | { readonly how: 'keys'; readonly why: string };

const OVER = new Set(['success', 'failed', 'cancelled', 'canceled']);
/** Jobs that failed longer ago say nothing about now. */
const REMEMBERED_SECONDS = 900;
/** After each failure a smaller part of what is left is tried; then keys move one by one. */
const SHARES = [1, 1 / 4, 1 / 16] as const;

/** Whether a job may still move its slots. */
export const isRunning = (job: SlotJob): boolean => !OVER.has(job.state);

/** Asks a server for its jobs; null when its version has no such thing. */
export async function readSlotJobs(connection: ValkeyConnection): Promise<readonly SlotJob[] | null> {
  try {
    return parseSlotJobs(await connection.askList('CLUSTER', 'GETSLOTMIGRATIONS'));
  } catch (error) {
    if (error instanceof ValkeyError && /unknown subcommand/i.test(error.message)) return null;
    throw error;
  }
}

/** Reads the answer: a list of jobs, each a flat list of names and values. */
export const parseSlotJobs = (list: readonly unknown[]): readonly SlotJob[] =>
  list.map((entry) => {
    const words = Array.isArray(entry) ? entry.map(String) : [];
    const field = (name: string): string => words[words.indexOf(name) + 1] ?? '';
    return {
      name: field('name'),
      operation: field('operation') === 'IMPORT' ? 'IMPORT' : 'EXPORT',
      ranges: field('slot_ranges').split(' ').filter(Boolean).map(parseRange),
      target: field('target_node'),
      createdAtSeconds: Number(field('create_time')),
      state: field('state'),
      message: field('message'),
      remainingBytes: words.includes('remaining_repl_size') ? Number(field('remaining_repl_size')) : 0,
    };
  });

/**
 * Chooses the next move. The source's own log says what was tried, so that a worker that takes over knows it too, and
 * no try that failed is repeated as it was.
 */
export function planNextMove(
  left: readonly SlotRange[],
  jobs: readonly SlotJob[] | null,
  to: { readonly target: string; readonly nowSeconds: number; readonly refusals: number },
): NextMove {
  if (jobs === null) return { how: 'keys', why: 'this version moves keys one by one' };
  const ours = jobs.filter((job) => job.operation === 'EXPORT' && overlaps(job.ranges, left));
  const running = ours.find(isRunning);
  if (running !== undefined) return { how: 'adopt', job: running };
  const failed = ours.filter(
    (job) =>
      job.state === 'failed' &&
      job.target === to.target &&
      job.createdAtSeconds > to.nowSeconds - REMEMBERED_SECONDS,
  );
  const share = SHARES[failed.length + to.refusals];
  if (share === undefined) {
    const why = failed.at(-1)?.message ?? '';
    return { how: 'keys', why: `jobs failed${why === '' ? '' : `: ${why}`}` };
  }
  return { how: 'job', ranges: firstSlots(left, Math.ceil(countSlots(left) * share)) };
}

/** The first so many slots of some ranges. */
export function firstSlots(ranges: readonly SlotRange[], count: number): readonly SlotRange[] {
  const taken: SlotRange[] = [];
  let missing = count;
  for (const [first, last] of ranges) {
    if (missing <= 0) break;
    const end = Math.min(last, first + missing - 1);
    taken.push([first, end]);
    missing -= end - first + 1;
  }
  return taken;
}

const overlaps = (a: readonly SlotRange[], b: readonly SlotRange[]): boolean =>
  intersectRanges(a, b).length > 0;

function parseRange(text: string): SlotRange {
  const [first = 0, last = first] = text.split('-').map(Number);
  return [first, last];
}
