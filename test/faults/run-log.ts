import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hit, Point } from './points.ts';

/** What one faulty run leaves behind, in one directory that outlives every worker that dies in it. */
export class RunLog {
  readonly #hits: string;
  readonly #armed: string;
  readonly #killed: string;
  readonly #begun: string;

  constructor(directory: string) {
    this.#hits = join(directory, 'hits.jsonl');
    this.#armed = join(directory, 'armed.json');
    this.#killed = join(directory, 'killed.jsonl');
    this.#begun = join(directory, 'begun');
  }

  /** What the operation needs is there: only places from here on are counted. */
  begin(): void {
    writeFileSync(this.#begun, '');
  }

  get begun(): boolean {
    return existsSync(this.#begun);
  }

  /** Written at once: the very next line may be the end of the process. */
  append(hit: Hit): void {
    appendFileSync(this.#hits, `${JSON.stringify(hit)}\n`);
  }

  get hits(): readonly Hit[] {
    return readLines(this.#hits) as Hit[];
  }

  /** Makes the worker die at each of these points, in whichever order it comes to them. */
  arm(points: readonly Point[]): void {
    writeFileSync(this.#armed, JSON.stringify(points));
  }

  get armed(): readonly Point[] {
    return existsSync(this.#armed) ? (JSON.parse(readFileSync(this.#armed, 'utf8')) as Point[]) : [];
  }

  /** Disarmed before it dies, or the next attempt would die at the same place for ever. */
  disarm(point: Point): void {
    this.arm(this.armed.filter((one) => one.class !== point.class || one.occurrence !== point.occurrence));
    appendFileSync(this.#killed, `${JSON.stringify(point)}\n`);
  }

  get killed(): readonly Point[] {
    return readLines(this.#killed) as Point[];
  }
}

function readLines(file: string): unknown[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  // The last line is empty, or torn by a kill.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as unknown);
}
