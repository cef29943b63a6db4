import { existsSync } from 'node:fs';
import type { TransitionTable } from '../../workflows/shared/transitions.ts';
import { INSTANCE_TABLE } from '../../workflows/spot-agent/domain/states.ts';
import { renderDiagram, renderOurRows } from '../../workflows/valkey-cluster/domain/diagram.ts';
import { PHASE_TABLE } from '../../workflows/valkey-cluster/domain/phases.ts';
import { UPGRADE_TABLE } from '../../workflows/valkey-upgrade/domain/phases.ts';
import { SHARD_TABLE } from '../../workflows/valkey-upgrade/domain/shard-states.ts';
import type { Generator } from './section.ts';

/** The tables of each lifecycle, by what goes through them: the same that the running workflow goes through. */
const TABLES: Readonly<Record<string, Readonly<Record<string, TransitionTable<string, string>>>>> = {
  'valkey-cluster': { phases: PHASE_TABLE },
  'spot-agent': { 'instance states': INSTANCE_TABLE },
  'valkey-upgrade': { phases: UPGRADE_TABLE, 'shard states': SHARD_TABLE },
};

/** In the README of each lifecycle, the diagram of its phases, and the rows that we add to its specification. */
export const phaseSections: readonly Generator[] = Object.entries(TABLES)
  .flatMap(([lifecycle, tables]) =>
    Object.entries(tables).map(([name, table]) => ({
      name,
      table,
      file: `workflows/${lifecycle}/README.md`,
    })),
  )
  // A lifecycle of which only the domain exists has none yet.
  .filter(({ file }) => existsSync(file))
  .flatMap(({ name, table, file }) => [
    {
      section: name,
      file,
      render: () => ['```mermaid', renderDiagram(table, 'specification').trim(), '```'].join('\n'),
    },
    { section: `${name} of ours`, file, render: () => renderOurRows(table) },
  ]);
