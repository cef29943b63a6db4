import type { Mesh } from '../../../workflows/datamesh/domain/mesh.ts';
import type { Intent } from '../../../workflows/datamesh/domain/observed.ts';
import { planTransition } from '../../../workflows/datamesh/domain/transitions.ts';
import { explore, type Exploration } from './explore.ts';
import { kernelModel, type KernelModel } from './kernel-models.ts';
import { tolerance, type Measures } from './measures.ts';
import { Machine } from './machine.ts';
import type { Scenario } from './scenario.ts';
import { meshOfCounts, restTrack, scenarioOf, trackOf } from './scenes.ts';
import { FULL_BOUNDS, isSmall, type Job } from './space.ts';
import { tellStory } from './story.ts';
import { compileScenario } from './tables.ts';
import { brokenZones } from './zones.ts';
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
  /** A placement in which a zone may be lost before and after, and not on the way, although the guards allow it. */
  readonly zones: string | null;
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

/**
 * More members are cut into two groups only. A third that does not serve changes nothing: joined to one that does, that
 * one still serves; and one that nobody sees and that has no quorum is as good as crashed, which is asked besides.
 */
const MAX_PARTITIONED = 5;

/** The scenario that a job stands for. */
export function scenarioOfJob(job: Job): Scenario {
  const kernel = kernelModel(job.kernel);
  const rest = meshOfCounts(kernel, job.counts, job.qmr);
  const mesh = { ...rest, q: rest.q + job.excess };
  const [first = restTrack(mesh), second] = job.intents.map((intent) => trackOf(mesh, intent));
  const tracks = second === undefined ? ([first] as const) : ([first, second] as const);
  const nodes = mesh.members.length + job.intents.filter((one) => one.op === 'AddMember').length;
  const network = {
    cuts: job.kind === 'graphs' ? 'graphs' : nodes > MAX_PARTITIONED ? 'halves' : 'partitions',
    unnoticed: isSmall(FULL_BOUNDS, job.counts) && job.kind === 'partitions',
    // In a graph a crash is a node without any connection.
    crash: job.kind !== 'graphs',
  } as const;
  return scenarioOf(kernel, mesh, tracks, network, job.primary);
}

/** Explores a job and judges what it found. */
export function runJob(job: Job): JobResult {
  const scenario = scenarioOfJob(job);
  const started = process.threadCpuUsage();
  const tables = compileScenario(scenario);
  const found = explore(tables, { withoutFtt: job.kind === 'graphs' });
  const spent = process.threadCpuUsage(started);
  const rest = new Machine(tables);
  rest.start();
  const fttAtRest = tolerance(rest).atOnce;
  const verdicts = verdictsOf(job, found, fttAtRest);
  const unsound = verdicts.filter((one) => one.blockedBy.length === 0 && one.broken.length > 0);
  const { measures } = found;
  const [only] = job.intents;
  return {
    kind: job.kind,
    kernel: job.kernel,
    name: scenario.name,
    states: found.states,
    transitions: found.transitions,
    cpuMs: (spent.user + spent.system) / 1000,
    unsound: unsound.map((one) => `${one.layout}: ${one.broken.join('; ')}`),
    zones: job.kind === 'partitions' && only !== undefined ? (brokenZones(found, only)[0] ?? null) : null,
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
    story:
      unsound.length === 0
        ? null
        : tellWorst(
            found,
            unsound.flatMap((one) => one.broken),
          ),
  };
}

function verdictsOf(job: Job, found: Exploration, fttAtRest: number): readonly Verdict[] {
  const { kernel, start } = found.tables.scenario;
  const [first, second] = job.intents;
  const measures = askedOf(job, kernel, found.measures, fttAtRest);
  if (first === undefined || first.op === 'ChangeQuorum')
    return [judgeBetween(kernel, start, first ?? null, measures, fttAtRest)];
  const verdicts = judgeLayouts(kernel, start, first, measures, fttAtRest);
  if (second === undefined) return verdicts;
  // Of two that overlap, what either guard refuses is not asked.
  return verdicts.map((one, at) => ({
    ...one,
    blockedBy: [...one.blockedBy, ...(judgeLayouts(kernel, start, second, measures, 0)[at]?.blockedBy ?? [])],
  }));
}

/** What a job is asked for; the rest is taken as well. */
function askedOf(job: Job, kernel: KernelModel, found: Measures, fttAtRest: number): Measures {
  // A graph is not asked for FTT, which is about losses. A client may see one disk of two only, and a kernel that asks
  // for one peer with quorum promises nothing then.
  if (job.kind === 'graphs')
    return { ...found, ftt: 9, ...(kernel.clientChecksQmr ? {} : { copiesByClient: 9 }) };
  // Two plans that overlap are made without each other: what their members hold of one another at the end is not asked.
  if (job.kind === 'pairs') return { ...found, stranded: -1 };
  // What does not serve at the start cannot stop.
  return fttAtRest < 0 ? { ...found, interrupted: -1 } : found;
}

/** At rest, and where only q or qmr changes, the lower of both ends is promised. */
function judgeBetween(
  kernel: KernelModel,
  start: Mesh,
  intent: Intent | null,
  measures: Measures,
  fttAtRest: number,
): Verdict {
  const source = sourcePromise(kernel, start, fttAtRest);
  if (intent === null) return { layout: 'itself', blockedBy: [], broken: brokenInvariants(measures, source) };
  const { mesh } = planTransition(start, intent);
  const end = sourcePromise(kernel, mesh, fttOf(kernel, mesh));
  const promise = { ftt: Math.min(source.ftt, end.ftt), copies: Math.min(source.copies, end.copies) };
  return { layout: 'itself', blockedBy: [], broken: brokenInvariants(measures, promise) };
}

/** The failures that a mesh survives at rest. */
function fttOf(kernel: KernelModel, mesh: Mesh): number {
  const network = { cuts: 'partitions', unnoticed: false, crash: false } as const;
  const machine = new Machine(compileScenario(scenarioOf(kernel, mesh, [restTrack(mesh)], network)));
  machine.start();
  return tolerance(machine).atOnce;
}

/** The shortest story of the gravest of these broken invariants. */
export function tellWorst(found: Exploration, broken: readonly string[]): string {
  const { measures: m } = found;
  const least = Math.min(m.copiesByCount, m.copiesByTie, m.copiesByClient);
  const copies =
    least === m.copiesByCount
      ? m.copiesByCountAt
      : least === m.copiesByTie
        ? m.copiesByTieAt
        : m.copiesByClientAt;
  const stories: readonly (readonly [string, number])[] = [
    ['two partitions', m.splitBrain],
    ['acknowledged', copies],
    ['survives', m.fttAt],
    ['stops serving', m.interrupted],
    ['neither goes on', m.stuck],
    ['without disk', m.stranded],
  ];
  const worst = stories.find(([text, at]) => at >= 0 && broken.some((one) => one.includes(text)));
  return worst === undefined ? found.tables.scenario.name : tellStory(found, worst[1]);
}
