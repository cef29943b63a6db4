/** The story of a run, line by line, and what should never have happened in it. */
export class Journal {
  readonly #nowMs: () => number;
  readonly lines: string[] = [];
  readonly violations: string[] = [];

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  note(text: string): void {
    this.lines.push(`${(this.#nowMs() / 1000).toFixed(3).padStart(10)} s  ${text}`);
  }

  /** Notes what breaks a promise of the core. */
  violation(text: string): void {
    this.violations.push(text);
    this.note(`VIOLATION: ${text}`);
  }
}
