import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./fault-worker.ts', import.meta.url));

/** The settings under which a worker that dies is replaced within two seconds. */
const QUICK_RECOVERY = {
  KEELSON_STICKY_MS: '200',
  KEELSON_HEARTBEAT_EVERY_MS: '400',
  KEELSON_LOG_LEVEL: 'warn',
} as const;

/** A worker process that dies when it comes to the armed point, and is started again each time. */
export class FaultyWorker {
  readonly #env: NodeJS.ProcessEnv;
  readonly #program: string;
  readonly #log: string;
  #process: ChildProcess | null = null;
  #stopping = false;
  #deaths = 0;
  #onDeath: () => void = () => {};

  constructor(directory: string, env: NodeJS.ProcessEnv, program = PROGRAM) {
    this.#env = {
      ...process.env,
      ...QUICK_RECOVERY,
      ...env,
      KEELSON_FAULT_RUN: directory,
      KEELSON_WORKER_LISTEN: '127.0.0.1:0',
    };
    this.#program = program;
    this.#log = join(directory, 'worker.log');
  }

  /** How often it has died and was started again. */
  get deaths(): number {
    return this.#deaths;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Called each time it has died, before it is started again: the moment to arm the next point. */
  onDeath(action: () => void): void {
    this.#onDeath = action;
  }

  start(): void {
    const out = openSync(this.#log, 'a');
    const child = spawn(process.execPath, [this.#program], { env: this.#env, stdio: ['ignore', out, out] });
    this.#process = child;
    child.once('exit', () => {
      if (this.#stopping) return;
      this.#deaths += 1;
      this.#onDeath();
      this.start();
    });
  }

  /** Stops it for good, by the pid that was started here. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#process;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}
