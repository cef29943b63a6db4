import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from './campaign.ts';

/** What a campaign has passed so far, in a file that outlives it, so that another one can go on from there. */
export class PassedPoints {
  readonly #file: string;
  #outcomes: readonly Outcome[] = [];

  constructor(operation: string, resume: boolean, directory = tmpdir()) {
    this.#file = join(directory, `keelson-faults-${operation}.json`);
    if (resume && existsSync(this.#file))
      this.#outcomes = JSON.parse(readFileSync(this.#file, 'utf8')) as readonly Outcome[];
  }

  get outcomes(): readonly Outcome[] {
    return this.#outcomes;
  }

  add(outcome: Outcome): void {
    if (!outcome.ok) return;
    this.#outcomes = [...this.#outcomes, outcome];
    writeFileSync(this.#file, JSON.stringify(this.#outcomes));
  }
}
