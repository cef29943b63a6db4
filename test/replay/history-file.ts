import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A recorded history, with the id that its workflow compares itself with. */
export interface HistoryFile {
  readonly workflowId: string;
  readonly history: unknown;
}

/** A recorded history and where it lies. */
export interface RecordedHistory extends HistoryFile {
  readonly lifecycle: string;
  /** The file's name without its ending: case and version. */
  readonly name: string;
}

export const HISTORIES = fileURLToPath(new URL('./histories', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('../simulation/lamp-row/workflows.ts', import.meta.url));
const WORKFLOWS = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));

/** The code that the histories of a lifecycle are replayed with. */
export const workflowsOf = (lifecycle: string): string => (lifecycle === 'lamp-row' ? EXAMPLE : WORKFLOWS);

/** Everything that has been recorded. */
export const readHistories = (): readonly RecordedHistory[] =>
  globSync(join(HISTORIES, '*/*.json'))
    .sort()
    .map((path) => ({
      ...(JSON.parse(readFileSync(path, 'utf8')) as HistoryFile),
      lifecycle: basename(dirname(path)),
      name: basename(path, '.json'),
    }));
