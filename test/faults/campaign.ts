import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FaultyWorker } from './faulty-worker.ts';
import type { FaultOperation } from './operation.ts';
import {
  describePoint,
  scheduleRuns,
  selectPoints,
  unsteadyClasses,
  type Hit,
  type Point,
} from './points.ts';
import { RunLog } from './run-log.ts';

const LOOK_MS = 200;

/** A disturbance other than the death of the worker at a point, brought about once in the middle of a run. */
export interface Disturbance {
  readonly name: string;
  act(worker: FaultyWorker): Promise<void>;
}

/** What became of one point, or of one disturbance. */
export interface Outcome {
  readonly point: string;
  readonly ok: boolean;
  readonly seconds: number;
  readonly found: readonly string[];
}

export interface CampaignOptions {
  readonly directory: string;
  readonly workerEnv: NodeJS.ProcessEnv;
  readonly workerProgram?: string;
  readonly chained: number;
  /** The seconds after which a run that is not over counts as stuck. */
  readonly stuckSeconds: number;
  readonly deadlineMs: number;
  readonly disturbances: readonly Disturbance[];
  /** Only points whose description has this text. */
  readonly only?: string;
  /** Points that an earlier campaign has passed already. */
  readonly passed?: ReadonlySet<string>;
  say(line: string): void;
}

export interface CampaignResult {
  readonly outcomes: readonly Outcome[];
  /** Classes that were not run, each with the reason. */
  readonly skipped: readonly string[];
}

/** Records the operation, then kills the worker at every point of it and looks at what is left. */
export async function runCampaign<World>(
  operation: FaultOperation<World>,
  options: CampaignOptions,
): Promise<CampaignResult> {
  const recordings: (readonly Hit[])[] = [];
  const outcomes: Outcome[] = [];
  for (const name of ['recording-1', 'recording-2']) {
    const run = await runOnce(operation, options, name, [], null);
    if (run.found.length > 0) {
      return { outcomes: [{ point: name, ok: false, seconds: run.seconds, found: run.found }], skipped: [] };
    }
    recordings.push(run.hits);
    options.say(`${name}: ${run.hits.length} places in ${run.seconds.toFixed(1)} s`);
  }
  const skipped = unsteadyClasses(recordings).map((name) => `${name} (not in every recording)`);
  const wanted = (text: string): boolean => options.only === undefined || text.includes(options.only);
  const points = selectPoints(recordings).filter(
    (point) => wanted(describePoint(point)) && options.passed?.has(describePoint(point)) !== true,
  );
  const runs = scheduleRuns(points, options.chained, operation.alone);
  options.say(`${points.length} points in ${runs.length} runs`);
  for (const [index, chain] of runs.entries()) {
    if (Date.now() > options.deadlineMs) {
      skipped.push(...chain.map((point) => `${describePoint(point)} (out of budget)`));
      continue;
    }
    const run = await runOnce(operation, options, `run-${index + 1}`, chain, null);
    outcomes.push(...judge(chain, run, options.say));
  }
  for (const disturbance of options.disturbances.filter(({ name }) => wanted(name))) {
    const run = await runOnce(operation, options, disturbance.name.replaceAll(' ', '-'), [], disturbance);
    const outcome = {
      point: disturbance.name,
      ok: run.found.length === 0,
      seconds: run.seconds,
      found: run.found,
    };
    options.say(
      `${outcome.ok ? '✓' : '✗'} ${outcome.point} (${run.seconds.toFixed(1)} s) ${run.found.join('; ')}`,
    );
    outcomes.push(outcome);
  }
  return { outcomes, skipped };
}

interface Run {
  readonly hits: readonly Hit[];
  readonly killed: readonly Point[];
  readonly seconds: number;
  readonly found: readonly string[];
}

/** A point that was not hit is a failure of its own: nothing was proven by that run. */
function judge(chain: readonly Point[], run: Run, say: (line: string) => void): readonly Outcome[] {
  const killed = new Set(run.killed.map(describePoint));
  return chain.map((one) => {
    const point = describePoint(one);
    const found = killed.has(point) ? run.found : ['the run did not come to this point', ...run.found];
    say(`${found.length === 0 ? '✓' : '✗'} ${point} (${run.seconds.toFixed(1)} s) ${found.join('; ')}`);
    return { point, ok: found.length === 0, seconds: run.seconds / chain.length, found };
  });
}

async function runOnce<World>(
  operation: FaultOperation<World>,
  options: CampaignOptions,
  name: string,
  chain: readonly Point[],
  disturbance: Disturbance | null,
): Promise<Run> {
  const directory = join(options.directory, name);
  mkdirSync(directory, { recursive: true });
  const log = new RunLog(directory);
  const worker = new FaultyWorker(directory, options.workerEnv, options.workerProgram);
  const startedAtMs = Date.now();
  const rest = [...chain];
  const armNext = (): void => {
    const next = rest.shift();
    if (next !== undefined) log.arm(next);
  };
  const world = await operation.begin(name);
  try {
    worker.start();
    await operation.prepare(world);
    log.begin();
    worker.onDeath(armNext);
    armNext();
    await operation.start(world);
    if (disturbance !== null) {
      await until(async () => log.hits.length > MIDDLE_HITS, options.stuckSeconds);
      await disturbance.act(worker);
    }
    const found = await endOf(operation, world, options.stuckSeconds);
    return {
      hits: log.hits,
      killed: log.killed,
      seconds: (Date.now() - startedAtMs) / 1000,
      found,
    };
  } finally {
    await operation.end(world);
    await worker.stop();
  }
}

/** A disturbance comes when the operation has reached this many places: it is under way and not over. */
const MIDDLE_HITS = 12;

async function endOf<World>(
  operation: FaultOperation<World>,
  world: World,
  stuckSeconds: number,
): Promise<readonly string[]> {
  let missing: string | null = 'it did not begin';
  const over = await until(async () => {
    missing = await operation.unfinished(world);
    return missing === null;
  }, stuckSeconds);
  const found = over ? [] : [`stuck after ${stuckSeconds} s: ${missing ?? ''}`];
  for (const invariant of operation.invariants) {
    const broken = await invariant.broken(world);
    if (broken !== null) found.push(`${invariant.says}: ${broken}`);
  }
  return found;
}

async function until(holds: () => Promise<boolean>, seconds: number): Promise<boolean> {
  const endMs = Date.now() + seconds * 1000;
  while (Date.now() < endMs) {
    if (await holds()) return true;
    await sleep(LOOK_MS);
  }
  return holds();
}
