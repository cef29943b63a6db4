import { FAILURES } from '../../workflows/shared/failure-codes.ts';
import type { FailureKind } from '../../workflows/shared/failure-codes.ts';
import { markdownTable } from './section.ts';
import type { Generator } from './section.ts';

/** The registry of failures, as a table. */
export const failureTable: Generator = {
  section: 'failures',
  file: 'docs/failures.md',
  render: () =>
    markdownTable([
      ['code', 'class', 'what it means', 'what to do'],
      ...Object.entries<FailureKind>(FAILURES).map(([code, { class: kind, meaning, remedy }]) => [
        kind === 'permanent' ? `[${code}](runbooks/${runbookName(code)}.md)` : code,
        kind,
        meaning,
        remedy,
      ]),
    ]),
};

/** The name of the runbook of a failure that a person has to act on: `ValkeyDataLost` has `valkey-data-lost`. */
export const runbookName = (code: string): string =>
  code.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
