import { LAYOUTS } from '../../../workflows/datamesh/domain/layouts.ts';
import { admit } from '../../../workflows/datamesh/domain/parallelism.ts';
import type { Mesh } from '../../../workflows/datamesh/domain/mesh.ts';
import type { Intent } from '../../../workflows/datamesh/domain/observed.ts';
import { planTransition } from '../../../workflows/datamesh/domain/transitions.ts';
import { KERNEL_MODELS, kernelModel } from './kernel-models.ts';
import { MAX_NODES } from './scenario.ts';
import { intentsIn, meshOfCounts, type Counts } from './scenes.ts';
import { blockersOf } from './verdicts.ts';

/** One scenario to explore, small enough to send to another process. */
export interface Job {
  readonly kind: 'partitions' | 'graphs' | 'pairs';
  readonly kernel: string;
  readonly counts: Counts;
  readonly qmr: number;
  /** By how much q is too high at the start. */
  readonly excess: number;
  /** None where a mesh is only at rest. */
  readonly intents: readonly Intent[];
  readonly primary: string | null;
}

/** How far the space reaches. */
export interface Bounds {
  readonly diskful: number;
  readonly others: number;
  readonly nodes: number;
  readonly smallDiskful: number;
  readonly smallOthers: number;
}

/** The whole space: up to 5 diskful and 2 others; connection graphs, late notice and pairs up to 4 and 1. */
export const FULL_BOUNDS: Bounds = {
  diskful: 5,
  others: 2,
  nodes: MAX_NODES,
  smallDiskful: 4,
  smallOthers: 1,
};

const upTo = (from: number, to: number): readonly number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);

/**
 * Every composition of voters and tie-breakers: the layouts, what they pass through, and what only an administrator
 * would make. A client counts nowhere and a shadow as little: one of each, and beside few voters and one tie-breaker.
 */
const countsUpTo = (bounds: Bounds, shadow: boolean): readonly Counts[] =>
  upTo(1, bounds.diskful).flatMap((D) =>
    upTo(0, bounds.others).flatMap((TB) =>
      [0, 1].flatMap((A) =>
        (shadow ? [0, 1] : [0]).flatMap((sD) => {
          const within = D + sD <= bounds.diskful && TB + A <= bounds.others;
          const few = D <= MAX_WITH_OTHERS && TB <= 1;
          return within && (A + sD === 0 || few) ? [{ D, TB, A, sD }] : [];
        }),
      ),
    ),
  );
const MAX_WITH_OTHERS = 3;

/** The qmr that a layout with so many voters has, or one with a voter more or less: what plans pass through, as guards let them. */
const redundancies = ({ D, TB }: Counts): readonly number[] =>
  upTo(Math.ceil(D / 2 - 0.5), TB > 0 && D % 2 === 0 ? D / 2 : Math.floor(D / 2) + 1).filter(
    (qmr) => qmr > 0,
  );

/** Every other qmr, and with each of them the q that fits from one that is too high. */
const quorumIntents = (mesh: Mesh, counts: Counts): readonly Intent[] =>
  redundancies(counts)
    .filter((qmr) => qmr !== mesh.qmr)
    .map((qmr): Intent => ({ op: 'ChangeQuorum', q: mesh.q, qmr }));

const sizeOf = (mesh: Mesh, intents: readonly Intent[]): number =>
  mesh.members.length + intents.filter((intent) => intent.op === 'AddMember').length;

const diskfulAfter = (counts: Counts, intents: readonly Intent[]): number =>
  counts.D +
  counts.sD +
  intents.filter((intent) => intent.op === 'AddMember' && (intent.type === 'D' || intent.type === 'sD'))
    .length;

/** Every job within the bounds, the small ones first: what is found early has a short story. */
export function jobsWithin(
  bounds: Bounds,
  kernels: readonly string[] = KERNEL_MODELS.map((one) => one.name),
): readonly Job[] {
  const jobs = kernels.flatMap((name) => {
    const kernel = kernelModel(name);
    const shadow = kernel.kernel === 'flant';
    const scenes = countsUpTo(bounds, shadow).flatMap((counts) =>
      redundancies(counts).map((qmr) => ({ counts, qmr, mesh: meshOfCounts(kernel, counts, qmr) })),
    );
    return scenes.flatMap(({ counts, qmr, mesh }) => {
      const intents = intentsIn(mesh, shadow).filter(
        (intent) =>
          sizeOf(mesh, [intent]) <= bounds.nodes && diskfulAfter(counts, [intent]) <= bounds.diskful,
      );
      const base = { kernel: name, counts, qmr, excess: 0, primary: null };
      const quorum = quorumIntents(mesh, counts);
      const singles = [
        { ...base, kind: 'partitions', intents: [] } as const,
        ...[...intents, ...quorum].map((intent): Job => ({ ...base, kind: 'partitions', intents: [intent] })),
        // A q that is too high is the only one that can be mended: too low, two halves serve at rest.
        ...[...quorum, { op: 'ChangeQuorum', q: mesh.q, qmr } as const].map((intent): Job => ({
          ...base,
          excess: 1,
          kind: 'partitions',
          intents: [intent],
        })),
      ];
      if (!isSmall(bounds, counts)) return singles;
      const limit = bounds.smallDiskful + bounds.smallOthers;
      const graphs = [...intents.map((intent) => [intent]), []]
        .filter((some) => sizeOf(mesh, some) <= limit)
        .flatMap((some) =>
          primariesOf(mesh, some[0] ?? null)
            .slice(0, sizeOf(mesh, some) < limit ? 2 : 1)
            .map((primary): Job => ({ ...base, kind: 'graphs', intents: some, primary })),
        );
      const pairs = pairsOf(mesh, intents)
        .filter((pair) => sizeOf(mesh, pair) <= limit)
        .map((pair): Job => ({ ...base, kind: 'pairs', intents: pair }));
      return [...singles, ...graphs, ...pairs];
    });
  });
  const weight = (job: Job): number =>
    job.counts.D +
    job.counts.TB * 2 +
    job.counts.sD +
    (job.kind === 'graphs' ? GRAPHS_LAST : 0) +
    job.intents.length;
  return jobs.filter((job) => !isImplied(job)).toSorted((a, b) => weight(a) - weight(b));
}

/**
 * Where no client is, flant has quorum only where it has it without its two checks, so graphs and pairs are asked of the
 * latter; and where no client is, the vanilla kernels count alike in the largest graphs.
 */
const isImplied = ({ kernel, kind, counts, intents }: Job): boolean => {
  const client = counts.A > 0;
  const large = counts.D + counts.TB + intents.filter((one) => one.op === 'AddMember').length > 4;
  return (
    (kernel === 'flant' && kind !== 'partitions' && !client) ||
    (kernel === 'vanilla-peer-tiebreaker' && kind === 'graphs' && !client && large)
  );
};

/** What a connection graph shows is rare, and dear: the other jobs are done before. */
const GRAPHS_LAST = 20;

/** Whether connection graphs, late notice and pairs are asked of this composition too. */
export const isSmall = (bounds: Bounds, counts: Counts): boolean =>
  counts.D + counts.sD <= bounds.smallDiskful && counts.TB + counts.A <= bounds.smallOthers;

/** The nodes that may serve: one Diskful that stays, and the one that moves. */
function primariesOf(mesh: Mesh, intent: Intent | null): readonly string[] {
  const moved = intent !== null && 'member' in intent ? intent.member : null;
  const stays = mesh.members.find((member) => member.type === 'D' && member.name !== moved);
  const moves = mesh.members.find((member) => member.type === 'D' && member.name === moved);
  return [stays, moves].flatMap((member) => (member === undefined ? [] : [member.name]));
}

/** Pairs of transitions of different members that the rules let overlap. */
export function pairsOf(mesh: Mesh, intents: readonly Intent[]): readonly (readonly [Intent, Intent])[] {
  const renamed = intents.map((intent): Intent =>
    intent.op === 'AddMember' ? { ...intent, member: 'new2', node: 'new2' } : intent,
  );
  return intents.flatMap((first, at) =>
    renamed.slice(at).flatMap((second): (readonly [Intent, Intent])[] => {
      const [a, b] = [planTransition(mesh, first), planTransition(mesh, second)];
      return a.member !== b.member && admit(b, [a]).admitted && isAllowedSomewhere(mesh, first, second)
        ? [[first, second]]
        : [];
    }),
  );
}

/** Whether the guards let both run towards one layout. */
const isAllowedSomewhere = (mesh: Mesh, first: Intent, second: Intent): boolean =>
  LAYOUTS.some(
    (layout) => blockersOf(mesh, first, layout).length === 0 && blockersOf(mesh, second, layout).length === 0,
  );
