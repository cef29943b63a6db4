import type { ChildStart, Indexed } from '../../../workflows/shared/port.ts';

/** How something that a workflow waits for ended. */
export type Ended = { readonly value: unknown } | { readonly error: Error };

/** One thing that a workflow is told. */
export type Job =
  | { readonly type: 'start' }
  | { readonly type: 'resolve'; readonly seq: number; readonly ended: Ended }
  | { readonly type: 'signal'; readonly name: string; readonly input: unknown }
  | { readonly type: 'update'; readonly name: string; readonly input: unknown; readonly answer: Answer }
  | { readonly type: 'cancel' };

/** Where the answer to an update goes. */
export interface Answer {
  accepted(message: string): void;
  refused(refusal: string): void;
}

/** All that a workflow is told at one moment. */
export interface Activation {
  readonly atMs: number;
  readonly jobs: readonly Job[];
  readonly continueAsNewSuggested: boolean;
}

/** One thing that a workflow wants done. */
export type Command =
  | {
      readonly type: 'activity';
      readonly seq: number;
      readonly name: string;
      readonly args: readonly unknown[];
      readonly summary: string;
      readonly long: boolean;
    }
  | { readonly type: 'cancel-activity'; readonly seq: number }
  | { readonly type: 'timer'; readonly seq: number; readonly ms: number; readonly summary: string }
  | { readonly type: 'child'; readonly seq: number; readonly endSeq: number; readonly start: ChildStart }
  | { readonly type: 'cancel-child'; readonly seq: number }
  | {
      readonly type: 'signal-child';
      readonly seq: number;
      readonly childSeq: number;
      readonly name: string;
      readonly input: unknown;
    }
  | { readonly type: 'signal-parent'; readonly seq: number; readonly name: string; readonly input: unknown }
  | { readonly type: 'change'; readonly change: string }
  | { readonly type: 'index'; readonly indexed: Indexed }
  | Closing;

/** What ends a run. */
export type Closing =
  | { readonly type: 'complete'; readonly result: unknown }
  | { readonly type: 'fail'; readonly error: Error }
  | { readonly type: 'cancelled' }
  | { readonly type: 'continue-as-new'; readonly input: unknown };

export const isClosing = (command: Command): command is Closing =>
  command.type === 'complete' ||
  command.type === 'fail' ||
  command.type === 'cancelled' ||
  command.type === 'continue-as-new';

/** A command as text, by which a replay is compared with what was recorded. */
export const commandText = (command: Command): string =>
  JSON.stringify(command, (_key, value: unknown) => (value instanceof Error ? value.message : value));
