import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { makeAnonymous } from './anonymous.ts';
import { HISTORIES } from './history-file.ts';

/** What is recorded, and under which name it is kept. */
export interface Recording {
  readonly workflowId: string;
  readonly lifecycle: string;
  /** What the run went through, as a name of a file. */
  readonly case: string;
  readonly version: string;
  readonly renames: ReadonlyMap<string, string>;
}

/** Keeps the history of a workflow on a server as a file; answers which. */
export async function recordHistory(client: Client, recording: Recording): Promise<string> {
  const { workflowId, lifecycle, version, renames } = recording;
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  const all = new Map([...renames, [client.options.namespace, 'default']]);
  const { events } = JSON.parse(historyToJSON(history)) as { readonly events: readonly unknown[] };
  const directory = join(HISTORIES, lifecycle);
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${recording.case}.${version}.json`);
  writeFileSync(file, formatHistory(makeAnonymous({ workflowId, events }, all)));
  return file;
}

/** One line for each event, so that a difference can be read. */
function formatHistory(recorded: unknown): string {
  const { workflowId, events } = recorded as {
    readonly workflowId: string;
    readonly events: readonly unknown[];
  };
  const lines = events.map((event) => JSON.stringify(event)).join(',\n');
  return `{"workflowId": ${JSON.stringify(workflowId)}, "history": {"events": [\n${lines}\n]}}\n`;
}
