/** Exclusive locks on the parts of one resource, inside the one workflow that works on it. */
export class PartLocks {
  readonly #held = new Set<string>();

  /** Takes all parts at once, so that no two takers can wait for each other; says whether it had to wait. */
  async take(parts: readonly string[], until: (ready: () => boolean) => Promise<unknown>): Promise<boolean> {
    const free = (): boolean => parts.every((part) => !this.#held.has(part));
    let waited = false;
    // Several may wait for the same part and wake together: only the first of them finds it free.
    while (!free()) {
      waited = true;
      await until(free);
    }
    parts.forEach((part) => this.#held.add(part));
    return waited;
  }

  release(parts: readonly string[]): void {
    parts.forEach((part) => this.#held.delete(part));
  }
}
