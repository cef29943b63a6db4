import { decisionIndex } from './decision-index.ts';
import { failureTable } from './failure-table.ts';
import { importTable } from './import-table.ts';
import { phaseSections } from './phase-sections.ts';
import type { Generator } from './section.ts';

/** Everything in the documents that code writes. A further section is one more entry, and its markers in the file. */
export const GENERATORS: readonly Generator[] = [importTable, failureTable, decisionIndex, ...phaseSections];
