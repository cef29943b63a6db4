import { LAYOUTS, type Layout } from '../../../workflows/datamesh/domain/layouts.ts';
import { countOf, votersOf, type Mesh } from '../../../workflows/datamesh/domain/mesh.ts';
import type { Intent } from '../../../workflows/datamesh/domain/observed.ts';
import { planTransition } from '../../../workflows/datamesh/domain/transitions.ts';
import type { KernelModel } from './kernel-models.ts';
import type { Measures } from './measures.ts';

/** What must hold in every mixed state: the lower of source and target. */
export interface Promised {
  readonly ftt: number;
  readonly copies: number;
}

/** The invariants that a scenario breaks, in words. */
export function brokenInvariants(measures: Measures, promise: Promised): readonly string[] {
  const copies = Math.min(measures.copiesByCount, measures.copiesByTie, measures.copiesByClient);
  return [
    ...(measures.splitBrain >= 0 ? ['two partitions serve writes'] : []),
    ...(copies < promise.copies ? [`acknowledged with ${copies} copies, promised ${promise.copies}`] : []),
    ...(measures.ftt < promise.ftt ? [`survives ${measures.ftt} failures, promised ${promise.ftt}`] : []),
    ...(measures.interrupted >= 0 ? ['stops serving although nothing failed'] : []),
    ...(measures.stuck >= 0 ? ['the plan neither goes on nor is blocked'] : []),
    ...(measures.stranded >= 0 ? ['the plan ends with a voter without disk'] : []),
    ...(measures.ended < 0 ? ['the plan never ends'] : []),
  ];
}

/** What the source itself gives at rest; breaking a tie gives half of the voters where the kernel does not ask for qmr. */
export function sourcePromise(kernel: KernelModel, mesh: Mesh, fttAtRest: number): Promised {
  const voters = votersOf(mesh.members);
  const tie = voters % 2 === 0 && countOf(mesh.members, 'TB') > 0 && !kernel.tieChecksQmr;
  return { ftt: fttAtRest, copies: tie ? Math.min(mesh.qmr, voters / 2) : mesh.qmr };
}

/** How the guards judged a transition towards one layout, and what the model says of it. */
export interface Verdict {
  readonly layout: string;
  readonly blockedBy: readonly string[];
  readonly broken: readonly string[];
}

/** One verdict for each layout that the transition may be on its way to. */
export function judgeLayouts(
  kernel: KernelModel,
  mesh: Mesh,
  intent: Intent,
  measures: Measures,
  fttAtRest: number,
): readonly Verdict[] {
  const source = sourcePromise(kernel, mesh, fttAtRest);
  return LAYOUTS.map((layout) => {
    const promise = {
      ftt: Math.min(source.ftt, layout.ftt),
      copies: Math.min(source.copies, layout.gmdr + 1),
    };
    return {
      layout: layout.name,
      blockedBy: blockersOf(mesh, intent, layout),
      broken: brokenInvariants(measures, promise),
    };
  });
}

/** The guards that refuse the transition when this layout is configured. */
export function blockersOf(
  mesh: Mesh,
  intent: Intent,
  layout: Layout,
  without: readonly string[] = [],
): readonly string[] {
  const configuration = { ...mesh.configuration, ftt: layout.ftt, gmdr: layout.gmdr };
  const { findings } = planTransition({ ...mesh, configuration }, intent, [], without);
  return findings.flatMap(({ guard, answer }) => ('message' in answer ? [guard.name] : []));
}
