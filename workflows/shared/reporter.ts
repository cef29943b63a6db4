/** Writes the newest of what it is given, one at a time and without holding up the giver. */
export class Reporter<View> {
  readonly #write: (view: View) => Promise<void>;
  #next: View | null = null;
  #busy = false;
  #writing: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | null = null;
  #last = '';

  constructor(write: (view: View) => Promise<void>) {
    this.#write = write;
  }

  /** Takes a view to be written; one that says nothing new is dropped, one that is overtaken is never written. */
  put(view: View): void {
    this.#next = view;
    if (this.#busy) return;
    this.#busy = true;
    this.#writing = this.#drain();
  }

  /** Throws what a write failed with, once. */
  check(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure.error;
  }

  /** Waits until the newest view is written. */
  async flush(): Promise<void> {
    await this.#writing;
    this.check();
  }

  async #drain(): Promise<void> {
    while (this.#next !== null) {
      const view = this.#next;
      this.#next = null;
      const text = JSON.stringify(view);
      if (text === this.#last) continue;
      try {
        await this.#write(view);
        this.#last = text;
      } catch (error) {
        // What came in meanwhile is written all the same: it may be what the failed one was not.
        this.#failure = { error };
      }
    }
    this.#busy = false;
  }
}
