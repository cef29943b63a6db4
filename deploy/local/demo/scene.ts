import type { KubernetesApi } from '../kubernetes/api.ts';

/** What the demo shows of one lifecycle: its acts, one after the other, on one resource. */
export interface Scene {
  /** Parts that it needs beside those that always run. */
  readonly parts: readonly string[];
  /** The resource that the acts are about, as commands name it; asked for once an act has begun. */
  target(stage: Stage): string;
  readonly acts: readonly Act[];
}

/** One change, and the operation that follows from it. */
export interface Act {
  /** What is done, as a sentence without its end. */
  readonly title: string;
  /** Left out when everything is to stay up at the end. */
  readonly isFarewell?: true;
  /** Makes the change, as a user would. */
  begin(stage: Stage): Promise<void>;
  /** Throws what is wrong when the operation has not led to what it should; may say what it has led to. */
  check(stage: Stage): Promise<string | void>;
}

/** Where a scene is played. */
export interface Stage {
  readonly api: KubernetesApi;
  readonly namespace: string;
  /** Where a part of the stack is reached. */
  address(part: string, name: string): string;
  /** Brings the database of the spot agents up to date, and adds a client that may use their API. */
  addSpotClient(name: string): Promise<{ readonly id: string; readonly token: string }>;
}
