import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const LOOK_MS = 20;
const SAYS_WITHIN_MS = 30_000;
const PROGRAM = fileURLToPath(new URL('./fault-worker.ts', import.meta.url));

/** The settings under which a worker that dies is replaced within two seconds. */
const QUICK_RECOVERY = {
  KEELSON_STICKY_MS: '200',
  KEELSON_HEARTBEAT_EVERY_MS: '400',
  KEELSON_LOG_LEVEL: 'info',
} as const;

/** A worker process that dies when it comes to an armed point, and is started again each time. */
export class FaultyWorker {
  readonly #env: NodeJS.ProcessEnv;
  readonly #program: string;
  readonly #log: string;
  readonly #processes = new Set<ChildProcess>();
  #current: ChildProcess | null = null;
  #stopping = false;

  constructor(directory: string, env: NodeJS.ProcessEnv, program = PROGRAM) {
    this.#env = {
      ...process.env,
      ...QUICK_RECOVERY,
      ...env,
      KEELSON_FAULT_RUN: directory,
      NODE_COMPILE_CACHE: join(dirname(directory), 'compiled'),
      // Any free one: another worker may run beside it.
      KEELSON_WORKER_PORT: '0',
    };
    this.#program = program;
    this.#log = join(directory, 'worker.log');
  }

  /** Starts it; one that runs already goes on beside it, and its end is then its own affair. */
  start(): void {
    const out = openSync(this.#log, 'a');
    const child = spawn(process.execPath, [this.#program], { env: this.#env, stdio: ['ignore', out, out] });
    closeSync(out);
    this.#current = child;
    this.#processes.add(child);
    child.once('exit', () => {
      this.#processes.delete(child);
      if (this.#stopping || this.#current !== child) return;
      this.start();
    });
  }

  /** Sends a signal to the one that runs now, and gives the way to send it others. */
  signal(name: NodeJS.Signals): (next: NodeJS.Signals) => void {
    const child = this.#current;
    if (child === null) throw new Error('no worker runs');
    child.kill(name);
    return (next) => void child.kill(next);
  }

  /** Waits until its log has a line with these words. */
  async untilItSays(words: string): Promise<void> {
    const endMs = Date.now() + SAYS_WITHIN_MS;
    while (!readFileSync(this.#log, 'utf8').includes(words)) {
      if (Date.now() > endMs) throw new Error(`the worker never said "${words}"`);
      await sleep(LOOK_MS);
    }
  }

  /** Stops it for good, with whatever runs beside it. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(
      [...this.#processes].map(async (child) => {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      }),
    );
  }
}
