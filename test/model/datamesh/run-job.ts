import { explore, type Exploration } from './explore.ts';
import { kernelModel } from './kernel-models.ts';
import { tolerance } from './measures.ts';
import { Machine } from './machine.ts';
import type { Scenario } from './scenario.ts';
import { meshOfCounts, scenarioOf, trackOf } from './scenes.ts';
import type { Job } from './space.ts';
import { tellStory } from './story.ts';
import { compileScenario } from './tables.ts';
import { brokenInvariants, judgeLayouts, sourcePromise, type Verdict } from './verdicts.ts';

/** What one job found, as data. */
export interface JobResult {
  readonly kind: Job['kind'];
  readonly kernel: string;
  readonly name: string;
  readonly states: number;
  readonly transitions: number;
  readonly cpuMs: number;
  /** A transition that the guards allow although the model breaks an invariant: must be empty. */
  readonly unsound: readonly string[];
  /** Guards that refuse towards a layout what the model finds safe. */
  readonly needless: readonly string[];
  /** Guards that alone refuse what the model finds unsafe. */
  readonly justified: readonly string[];
  readonly fttUnforgotten: number;
  readonly ftt: number;
  readonly fttSettled: number;
  readonly fttAtRest: number;
  readonly story: string | null;
}

/** The scenario that a job stands for. */
export function scenarioOfJob(job: Job): Scenario {
  const kernel = kernelModel(job.kernel);
  const mesh = meshOfCounts(kernel, job.counts, job.qmr);
  const [first, second] = job.intents.map((intent) => trackOf(mesh, intent));
  if (first === undefined) throw new Error('a job without an intent');
  const tracks = second === undefined ? ([first] as const) : ([first, second] as const);
  const network = {
    cuts: job.kind === 'graphs' ? 'graphs' : 'partitions',
    unnoticed: mesh.members.length <= 4 && job.kind === 'partitions',
    crash: job.kind === 'partitions',
  } as const;
  return scenarioOf(kernel, mesh, tracks, network, job.primary);
}

/** Explores a job and judges what it found. */
export function runJob(job: Job): JobResult {
  const scenario = scenarioOfJob(job);
  const started = process.threadCpuUsage();
  const tables = compileScenario(scenario);
  const found = explore(tables, { withoutFtt: job.kind !== 'partitions' });
  const spent = process.threadCpuUsage(started);
  const rest = new Machine(tables);
  rest.start();
  const fttAtRest = tolerance(rest).done;
  const verdicts = verdictsOf(job, found, fttAtRest);
  const unsound = verdicts.filter((one) => one.blockedBy.length === 0 && one.broken.length > 0);
  const { measures } = found;
  return {
    kind: job.kind,
    kernel: job.kernel,
    name: scenario.name,
    states: found.states,
    transitions: found.transitions,
    cpuMs: (spent.user + spent.system) / 1000,
    unsound: unsound.map((one) => `${one.layout}: ${one.broken.join('; ')}`),
    needless: verdicts.flatMap((one) =>
      one.broken.length === 0 && one.blockedBy.length > 0
        ? [`${one.blockedBy.join('+')} towards ${one.layout}`]
        : [],
    ),
    justified: verdicts.flatMap((one) =>
      one.broken.length > 0 && one.blockedBy.length === 1 ? one.blockedBy : [],
    ),
    fttUnforgotten: measures.fttUnforgotten,
    ftt: measures.ftt,
    fttSettled: measures.fttSettled,
    fttAtRest,
    story: unsound.length === 0 ? null : tellWorst(found),
  };
}

function verdictsOf(job: Job, found: Exploration, fttAtRest: number): readonly Verdict[] {
  const { kernel, start } = found.tables.scenario;
  const [intent] = job.intents;
  if (job.kind === 'partitions' && intent !== undefined)
    return judgeLayouts(kernel, start, intent, found.measures, fttAtRest);
  // Graphs and pairs are asked for what no layout excuses: two writers.
  const { splitBrain, stuck } = found.measures;
  const only = {
    ...found.measures,
    copiesByCount: 9,
    copiesByTie: 9,
    ftt: 9,
    interrupted: -1,
    stranded: -1,
    ended: 0,
    splitBrain,
    stuck,
  };
  return [{ layout: 'any', blockedBy: [], broken: brokenInvariants(only, sourcePromise(kernel, start, 0)) }];
}

/** The shortest story of the gravest thing found. */
export function tellWorst(found: Exploration): string {
  const { measures: m } = found;
  const worst = [
    m.splitBrain,
    m.interrupted,
    m.stuck,
    m.stranded,
    m.copiesByTieAt,
    m.copiesByCountAt,
    m.fttAt,
  ].find((index) => index >= 0);
  return worst === undefined ? found.tables.scenario.name : tellStory(found, worst);
}
