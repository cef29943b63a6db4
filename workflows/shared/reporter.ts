/** Writes the newest of what it is given, one at a time and without holding up the giver. */
export class Reporter<View> {
  readonly #write: (view: View) => Promise<void>;
  #newest: View | null = null;
  #due: View | null = null;
  #busy = false;
  #writing: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | null = null;
  #last = '';

  constructor(write: (view: View) => Promise<void>) {
    this.#write = write;
  }

  /** Takes a view; it is written when the giver goes on, so that the last one can be left to somebody else. */
  put(view: View): void {
    this.#newest = view;
  }

  /** Begins to write what was taken; what says nothing new is dropped, what is overtaken is never written. */
  begin(): void {
    if (this.#newest === null) return;
    this.#due = this.#newest;
    this.#newest = null;
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
    this.begin();
    await this.#writing;
    this.check();
  }

  /** Leaves what is not being written yet to the next writer, who may begin when this is over. */
  async leave(): Promise<void> {
    this.#newest = null;
    this.#due = null;
    await this.#writing;
    this.check();
  }

  async #drain(): Promise<void> {
    while (this.#due !== null) {
      const view = this.#due;
      this.#due = null;
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
