import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Afterwards } from '../clean-end.ts';
import type { Disturbance } from './disturbances.ts';
import { FaultyWorker } from './faulty-worker.ts';
import type { FaultOperation } from './operation.ts';
import { describePoint, type Hit, type Point } from './points.ts';
import { RunLog } from './run-log.ts';

const LOOK_MS = 200;
/** A run that always finds something new to do is given up after so many times the seconds of a stuck one. */
const LONGEST = 5;

/** What all runs of a campaign have in common. */
export interface RunOptions {
  readonly directory: string;
  readonly workerEnv: NodeJS.ProcessEnv;
  readonly workerProgram?: string;
  /** The seconds after which a run that came to no new place, and is not over, counts as stuck. */
  readonly stuckSeconds: number;
  /** Stops whatever runs when the campaign is interrupted. */
  readonly afterwards: Afterwards;
}

/** What one run is disturbed by. */
export type Trouble =
  | { readonly kill: readonly Point[] }
  | { readonly disturb: Disturbance; readonly atPlace: number };

/** What came of one run. */
export interface Run {
  readonly hits: readonly Hit[];
  /** The points at which the worker died. */
  readonly killed: ReadonlySet<string>;
  readonly seconds: number;
  /** What was wrong at the end. */
  readonly found: readonly string[];
}

/** Runs the operation once in a world of its own, with trouble, and looks at what is left. */
export async function runOnce<World>(
  operation: FaultOperation<World>,
  options: RunOptions,
  name: string,
  trouble: Trouble,
): Promise<Run> {
  const directory = join(options.directory, name);
  mkdirSync(directory, { recursive: true });
  const log = new RunLog(directory);
  const worker = new FaultyWorker(directory, options.workerEnv, options.workerProgram);
  options.afterwards.defer(() => worker.stop());
  const startedAtMs = Date.now();
  const world = await operation.begin(name);
  const found: string[] = [];
  try {
    worker.start();
    await operation.prepare(world);
    log.arm('kill' in trouble ? trouble.kill : []);
    log.begin();
    await operation.start(world);
    if ('disturb' in trouble) found.push(...(await disturb(trouble, worker, log, options.stuckSeconds)));
    found.push(...(await endOf(operation, world, log, options.stuckSeconds)));
  } catch (error) {
    found.push(`the run broke off: ${String(error)}`);
  }
  // The clean-up has places of its own, and nobody dies there.
  const { hits, killed } = log;
  log.arm([]);
  // What cannot be taken away is a finding too, and the other runs go on.
  await operation.end(world).catch((error: unknown) => found.push(`the clean-up failed: ${String(error)}`));
  await worker.stop();
  const seconds = (Date.now() - startedAtMs) / 1000;
  return { found, hits, killed: new Set(killed.map(describePoint)), seconds };
}

/** Disturbs an operation that is under way and not over. */
async function disturb(
  { disturb, atPlace }: Extract<Trouble, { readonly atPlace: number }>,
  worker: FaultyWorker,
  log: RunLog,
  stuckSeconds: number,
): Promise<readonly string[]> {
  const places = (): number => log.hits.length;
  if (!(await until(async () => places() >= atPlace, log, stuckSeconds))) {
    return [`the run did not come to place ${atPlace}`];
  }
  await disturb.act(worker, places);
  return [];
}

async function endOf<World>(
  operation: FaultOperation<World>,
  world: World,
  log: RunLog,
  stuckSeconds: number,
): Promise<readonly string[]> {
  let missing: string | null = 'it did not begin';
  const over = await until(
    async () => {
      missing = await operation.unfinished(world);
      return missing === null;
    },
    log,
    stuckSeconds,
  );
  const found = over ? [] : [`stuck, with nothing new in ${stuckSeconds} s: ${missing ?? ''}`];
  for (const invariant of operation.invariants) {
    const broken = await invariant
      .broken(world)
      .catch((error: unknown) => `cannot be told: ${String(error)}`);
    if (broken !== null) found.push(`${invariant.says}: ${broken}`);
  }
  return found;
}

/** Waits until it holds, as long as the run comes to places where it was not before. */
async function until(holds: () => Promise<boolean>, log: RunLog, seconds: number): Promise<boolean> {
  const startedAtMs = Date.now();
  let last = { places: 0, atMs: startedAtMs };
  while (Date.now() < Math.min(last.atMs + seconds * 1000, startedAtMs + LONGEST * seconds * 1000)) {
    if (await holds()) return true;
    const places = new Set(log.hits.map((hit) => hit.key)).size;
    if (places > last.places) last = { places, atMs: Date.now() };
    await sleep(LOOK_MS);
  }
  return holds();
}
