import type { StackHandle } from '../../deploy/local/testing.ts';
import type { Afterwards } from '../clean-end.ts';
import type { Disturbance } from './disturbances.ts';

/** One operation under faults: how it is brought about, when it is over, and what must hold then. */
export interface FaultOperation<World> {
  readonly name: string;
  /** Makes a world of its own for one run: nothing of it is shared with another run. */
  begin(run: string): Promise<World>;
  /** What must be there before; the worker is not killed meanwhile. */
  prepare(world: World): Promise<void>;
  /** Brings the operation about. */
  start(world: World): Promise<void>;
  /** Null when the operation is over, else what is still missing, in words. */
  unfinished(world: World): Promise<string | null>;
  /** Each must hold at the end: the end state, nothing lost, nothing left behind. */
  readonly invariants: readonly Invariant<World>[];
  /** Takes everything of the run away. */
  end(world: World): Promise<void>;
  /** Points of these classes get runs of their own: what they do cannot be undone. */
  readonly alone: readonly RegExp[];
}

export interface Invariant<World> {
  readonly says: string;
  /** Null when it holds, else what was found. */
  broken(world: World): Promise<string | null>;
}

/** Where an operation is played: what runs there, and what of it may die. */
export interface FaultSetting {
  /** The parts of the stack that are started. */
  readonly parts: readonly string[];
  /** Those of them that may die in the middle of an operation: they come back with what they knew. */
  readonly mortal: readonly string[];
  /** Opens what all runs share. Any world will do: it is handed from one member of the operation to the other only. */
  open(stack: StackHandle, afterwards: Afterwards): Promise<OpenedOperation>;
}

/** An operation that can be run, and how a worker finds what it works with. */
export interface OpenedOperation {
  readonly operation: FaultOperation<unknown>;
  readonly workerEnv: NodeJS.ProcessEnv;
  /** What may happen there beside the deaths. */
  readonly disturbances?: readonly Disturbance[];
}
