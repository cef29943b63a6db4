import { assertAttemptLives } from './attempt.ts';

/** A request that changes something outside. */
export interface Mutation {
  readonly system: string;
  readonly verb: string;
  readonly target: string;
}

/** Stands around every request that changes something; fault campaigns kill exactly there. */
export interface MutationHook {
  before(mutation: Mutation): void | Promise<void>;
  after(mutation: Mutation): void | Promise<void>;
}

/** Does nothing: what service uses. */
export const noMutationHook: MutationHook = { before: () => {}, after: () => {} };

/** Sends a request that changes something, unless its attempt is over. */
export async function mutate<T>(hook: MutationHook, mutation: Mutation, send: () => Promise<T>): Promise<T> {
  await hook.before(mutation);
  assertAttemptLives();
  const answer = await send();
  await hook.after(mutation);
  return answer;
}
