import { AsyncLocalStorage } from 'node:async_hooks';

/** A cancellation scope as Temporal has them: cancelling reaches all scopes within, except shielded ones. */
export class Scope {
  readonly #onCancel: (() => void)[] = [];
  readonly #shielded: boolean;
  #cancelled = false;

  constructor(parent: Scope | null, shielded = false) {
    this.#shielded = shielded;
    if (parent === null || shielded) return;
    if (parent.cancelled) this.#cancelled = true;
    else parent.onCancel(() => this.cancel());
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  onCancel(react: () => void): void {
    this.#onCancel.push(react);
  }

  cancel(): void {
    if (this.#cancelled || this.#shielded) return;
    this.#cancelled = true;
    for (const react of this.#onCancel) react();
  }
}

const storage = new AsyncLocalStorage<Scope>();

/** The scope that the calling code runs in. */
export function currentScope(): Scope {
  const scope = storage.getStore();
  if (scope === undefined) throw new Error('this code does not run inside a simulated workflow');
  return scope;
}

/** Runs work, and everything that it leads to, in a scope. */
export const runInScope = <T>(scope: Scope, work: () => T): T => storage.run(scope, work);
