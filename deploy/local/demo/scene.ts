import type { KubernetesApi } from '../kubernetes/api.ts';

/** What the demo shows of one lifecycle: its acts, one after the other, on one resource. */
export interface Scene {
  readonly lifecycle: string;
  /** The name of the resource that the acts are about. */
  readonly resource: string;
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
  /** Throws what is wrong when the operation has not led to what it should. */
  check(stage: Stage): Promise<void>;
}

/** Where a scene is played. */
export interface Stage {
  readonly api: KubernetesApi;
  readonly namespace: string;
}
