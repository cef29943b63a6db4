import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { writeWhole } from './files.ts';
import { pathOf } from './home.ts';
import type { Home } from './home.ts';
import { StackError } from './stack-error.ts';

const identitySchema = z.object({ pid: z.int().positive(), startTime: z.string() });

const partStateSchema = z.object({
  phase: z.enum(['waiting', 'starting', 'ready', 'backing-off', 'stopping', 'stopped']),
  process: identitySchema.nullable(),
  restarts: z.int().min(0),
  /** How often it has ended, or missed its time, since it was last ready. */
  failures: z.int().min(0),
  /** Why it is not ready, in the words of the last attempt. */
  reason: z.string().nullable(),
});

const stateSchema = z.object({
  version: z.literal(1),
  supervisor: identitySchema,
  parts: z.record(z.string(), partStateSchema),
});

/** What the supervisor knows of one part. */
export type PartState = Readonly<z.infer<typeof partStateSchema>>;

/** What the supervisor knows of the stack; written whole at every change. */
export type StackState = Readonly<z.infer<typeof stateSchema>>;

/** The state of the stack in this directory, if it ever ran. */
export function readState(home: Home): StackState | undefined {
  const file = pathOf.state(home);
  if (!existsSync(file)) return undefined;
  try {
    return stateSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new StackError(
      `${file} is damaged, so it cannot be told from it what runs`,
      'Run "keelson down", which finds the processes of this stack by their marks and removes the file, then "keelson up".',
      { cause: error },
    );
  }
}

/** Writes the state for everybody who asks, and for the next supervisor. */
export function writeState(home: Home, state: StackState): void {
  writeWhole(pathOf.state(home), `${JSON.stringify(state, undefined, 2)}\n`);
}
