import { existsSync } from 'node:fs';
import type { TransitionTable } from '../../workflows/shared/transitions.ts';
import { renderDiagram, renderOurRows } from '../../workflows/valkey-cluster/domain/diagram.ts';
import { PHASE_TABLE } from '../../workflows/valkey-cluster/domain/phases.ts';
import type { Generator } from './section.ts';

/** The phase table of each lifecycle: the same that the running workflow goes through. */
const TABLES: Readonly<Record<string, TransitionTable<string, string>>> = {
  'valkey-cluster': PHASE_TABLE,
};

/** In the README of each lifecycle, the diagram of its phases, and the rows that we add to its specification. */
export const phaseSections: readonly Generator[] = Object.entries(TABLES)
  .map(([lifecycle, table]) => ({ table, file: `workflows/${lifecycle}/README.md` }))
  // A lifecycle of which only the domain exists has none yet.
  .filter(({ file }) => existsSync(file))
  .flatMap(({ table, file }) => [
    {
      section: 'phases',
      file,
      render: () => ['```mermaid', renderDiagram(table, 'specification').trim(), '```'].join('\n'),
    },
    { section: 'phases of ours', file, render: () => renderOurRows(table) },
  ]);
