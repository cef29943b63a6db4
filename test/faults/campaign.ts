import { Random } from '../simulation/engine/random.ts';
import type { Disturbance } from './disturbances.ts';
import type { FaultOperation } from './operation.ts';
import {
  describePoint,
  scheduleRuns,
  selectPoints,
  unsteadyClasses,
  type Hit,
  type Point,
} from './points.ts';
import { runOnce, type Run, type RunOptions } from './run-once.ts';

/** A death may keep a later point of the same run from being reached: such a point is run alone, so often. */
const RUNS_ALONE = 3;

/** What became of one point, or of one disturbance. */
export interface Outcome {
  readonly point: string;
  readonly ok: boolean;
  readonly seconds: number;
  readonly found: readonly string[];
}

export interface CampaignOptions extends RunOptions {
  /** How many kills one run takes. */
  readonly chained: number;
  /** Deals the points to runs, and says when a disturbance comes. */
  readonly seed: string;
  readonly deadlineMs: number;
  readonly disturbances: readonly Disturbance[];
  /** Only points whose description has this text. */
  readonly only?: string;
  /** What an earlier campaign has passed already. */
  readonly passed?: readonly Outcome[];
  /** Hears of each outcome as it comes. */
  tell(outcome: Outcome): void;
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
  const campaign = new Campaign(operation, options);
  const recordings = await campaign.record();
  if (recordings !== null) {
    await campaign.kill(recordings);
    await campaign.disturb(recordings);
  }
  return campaign.result;
}

class Campaign<World> {
  readonly #operation: FaultOperation<World>;
  readonly #options: CampaignOptions;
  readonly #outcomes: Outcome[];
  readonly #skipped: string[] = [];
  readonly #random: Random;
  #runs = 0;

  constructor(operation: FaultOperation<World>, options: CampaignOptions) {
    this.#operation = operation;
    this.#options = options;
    this.#outcomes = [...(options.passed ?? [])];
    this.#random = new Random(options.seed);
  }

  get result(): CampaignResult {
    return { outcomes: this.#outcomes, skipped: this.#skipped };
  }

  /** Two runs that nothing disturbs; null when one of them fails by itself. */
  async record(): Promise<readonly (readonly Hit[])[] | null> {
    const recordings: (readonly Hit[])[] = [];
    for (const name of ['recording-1', 'recording-2']) {
      const run = await runOnce(this.#operation, this.#options, name, { kill: [] });
      if (run.found.length > 0) {
        this.#tell({ point: name, ok: false, seconds: run.seconds, found: run.found });
        return null;
      }
      recordings.push(run.hits);
      this.#options.say(`${name}: ${run.hits.length} places in ${run.seconds.toFixed(1)} s`);
    }
    this.#skipped.push(...unsteadyClasses(recordings).map((name) => `${name} (not in every recording)`));
    return recordings;
  }

  async kill(recordings: readonly (readonly Hit[])[]): Promise<void> {
    const points = selectPoints(recordings).filter((point) => this.#isWanted(describePoint(point)));
    const { chained, say } = this.#options;
    const runs = scheduleRuns(points, chained, this.#operation.alone, this.#random.fork('runs'));
    say(`${points.length} points in ${runs.length} runs`);
    let missed: Point[] = [];
    for (const chain of runs) missed.push(...(await this.#killAt(chain)));
    for (let time = 0; time < RUNS_ALONE && missed.length > 0; time += 1) {
      say(`${missed.length} points were not reached: each alone now`);
      const again = missed;
      missed = [];
      for (const point of again) missed.push(...(await this.#killAt([point])));
    }
    for (const point of missed) {
      const found = [`not one of ${RUNS_ALONE + 1} runs came to this point`];
      this.#tell({ point: describePoint(point), ok: false, seconds: 0, found });
    }
  }

  async disturb(recordings: readonly (readonly Hit[])[]): Promise<void> {
    const places = Math.min(...recordings.map((hits) => hits.length));
    for (const disturbance of this.#options.disturbances.filter(({ name }) => this.#isWanted(name))) {
      if (this.#isOver([disturbance.name])) continue;
      const random = this.#random.fork(disturbance.name);
      const atPlace = random.between(Math.ceil(places / 8), Math.ceil((places * 5) / 8));
      const run = await this.#run({ disturb: disturbance, atPlace });
      const ok = run.found.length === 0;
      this.#tell({ point: disturbance.name, ok, seconds: run.seconds, found: run.found });
    }
  }

  /** One run with a death at each point of a chain; gives back those to which the run did not come. */
  async #killAt(chain: readonly Point[]): Promise<readonly Point[]> {
    if (this.#isOver(chain.map(describePoint))) return [];
    const run = await this.#run({ kill: chain });
    const reached = chain.filter((point) => run.killed.has(describePoint(point)));
    for (const point of reached) {
      const seconds = run.seconds / chain.length;
      const { found } = run;
      this.#tell({ point: describePoint(point), ok: found.length === 0, seconds, found });
    }
    // What was wrong although the worker never died is not to be forgotten.
    if (reached.length === 0 && run.found.length > 0)
      this.#tell({ point: 'a run without a death', ok: false, seconds: run.seconds, found: run.found });
    return chain.filter((point) => !reached.includes(point));
  }

  #run(trouble: Parameters<typeof runOnce>[3]): Promise<Run> {
    this.#runs += 1;
    return runOnce(this.#operation, this.#options, `run-${this.#runs}`, trouble);
  }

  #isWanted(point: string): boolean {
    const { only, passed = [] } = this.#options;
    return (only === undefined || point.includes(only)) && !passed.some((one) => one.point === point);
  }

  #isOver(points: readonly string[]): boolean {
    const over = Date.now() > this.#options.deadlineMs;
    if (over) this.#skipped.push(...points.map((point) => `${point} (out of budget)`));
    return over;
  }

  #tell(outcome: Outcome): void {
    const { point, ok, seconds, found } = outcome;
    this.#outcomes.push(outcome);
    this.#options.tell(outcome);
    this.#options.say(`${ok ? '✓' : '✗'} ${point} (${seconds.toFixed(1)} s) ${found.join('; ')}`);
  }
}
