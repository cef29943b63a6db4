import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./worker-process.ts', import.meta.url));

/** A line of the worker's log. */
export interface LogLine {
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A worker in a process of its own, which a test may stop, freeze and kill. */
export class WorkerHandle implements AsyncDisposable {
  readonly lines: LogLine[] = [];
  readonly #process: ChildProcess;
  readonly #directory = mkdtempSync(join(tmpdir(), 'keelson-worker-'));
  readonly #exit: Promise<number | null>;
  #errors = '';

  constructor(env: Readonly<Record<string, string>>, program = PROGRAM) {
    this.#process = spawn(process.execPath, [program], {
      env: {
        ...process.env,
        KEELSON_WORKER_PORT: '0',
        ...env,
        TEST_RECORD: this.#record,
        TEST_HOLD: this.#hold,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#exit = once(this.#process, 'exit').then(([code]) => code as number | null);
    if (this.#process.stdout !== null)
      createInterface(this.#process.stdout).on('line', (line) =>
        this.lines.push(JSON.parse(line) as LogLine),
      );
    this.#process.stderr?.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()));
  }

  get #record(): string {
    return join(this.#directory, 'record');
  }

  get #hold(): string {
    return join(this.#directory, 'hold');
  }

  /** What it has said where nobody reads it but a person. */
  get errors(): string {
    return this.#errors;
  }

  /** What its attempts have done so far. */
  get record(): readonly string[] {
    return existsSync(this.#record) ? readFileSync(this.#record, 'utf8').trim().split('\n') : [];
  }

  /** From now on it waits just before it changes something. */
  hold(): void {
    writeFileSync(this.#hold, '');
  }

  release(): void {
    rmSync(this.#hold, { force: true });
  }

  async awaitRecord(text: string): Promise<void> {
    await this.#until(() => this.record.includes(text), `does not record "${text}"`);
  }

  async awaitLine(msg: string): Promise<LogLine> {
    await this.#until(() => this.lines.some((line) => line.msg.includes(msg)), `does not say "${msg}"`);
    return this.lines.find((line) => line.msg.includes(msg)) ?? { msg };
  }

  /** The path of its probes: the status and the text. */
  async get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const { port } = await this.awaitLine('probes and metrics are served');
    const response = await fetch(`http://127.0.0.1:${String(port)}${path}`);
    return { status: response.status, text: await response.text() };
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  exit(): Promise<number | null> {
    return this.#exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#exit;
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #until(holds: () => boolean, trouble: string): Promise<void> {
    while (!holds()) {
      if (this.#process.exitCode !== null)
        throw new Error(`the worker ${trouble} and has ended: ${this.#errors}`);
      await sleep(20);
    }
  }
}
