import { setTimeout as delay } from 'node:timers/promises';
import { pathOf } from '../home.ts';
import { readLastLines } from '../log-file.ts';
import { findMarked, sweep, terminate } from '../marks.ts';
import type { Part, PartContext } from '../part.ts';
import { isAlive } from '../process-table.ts';
import type { ProcessIdentity } from '../process-table.ts';
import { messageOf } from '../stack-error.ts';
import type { PartState } from '../state.ts';
import { adoptProcess, startProcess } from './part-process.ts';
import type { PartProcess } from './part-process.ts';

const READY_LIMIT_MS = 90_000;
const READY_POLL_MS = 100;
const FIRST_BACK_OFF_MS = 250;
const LAST_BACK_OFF_MS = 30_000;
const LAST_LINES = 8;

/** What a runner tells its supervisor. */
export interface RunnerEvents {
  onChange(state: PartState): void;
  onNote(text: string): void;
}

/** Keeps one part running: starts or adopts it, waits until it serves, and starts it again when it ends. */
export class PartRunner {
  readonly part: Part;
  readonly #context: PartContext;
  readonly #events: RunnerEvents;
  readonly #stopping = new AbortController();
  readonly #becameReady = Promise.withResolvers<void>();
  #state: PartState;
  #loop: Promise<void> | undefined;

  constructor(part: Part, context: PartContext, recorded: PartState | undefined, events: RunnerEvents) {
    this.part = part;
    this.#context = context;
    this.#events = events;
    const process = recorded?.process ?? null;
    this.#state = { phase: 'waiting', process, restarts: recorded?.restarts ?? 0, failures: 0, reason: null };
  }

  /** Begins to keep the part running, once those that it depends on have been ready. */
  start(dependencies: readonly PartRunner[]): void {
    this.#loop = this.#run(dependencies);
  }

  /** Ends the part after those that depend on it, and resolves when nothing of it is left. */
  async stop(dependents: readonly Promise<void>[]): Promise<void> {
    this.#stopping.abort();
    await Promise.all(dependents);
    this.#change({ phase: 'stopping' });
    const main = this.#state.process;
    if (main !== null) await terminate(main, this.part.graceMs);
    await this.#loop;
    await sweep(this.#context.home, this.part.name);
    this.#change({ phase: 'stopped', process: null, reason: null });
  }

  async #run(dependencies: readonly PartRunner[]): Promise<void> {
    this.#change({});
    const ready = dependencies.map((runner) => runner.#becameReady.promise);
    await Promise.race([Promise.all(ready), this.#stopped()]);
    while (!this.#stopping.signal.aborted) {
      const reason = await this.#runOnce();
      if (this.#stopping.signal.aborted) return;
      const failures = this.#state.failures + 1;
      this.#change({
        phase: 'backing-off',
        process: null,
        failures,
        reason,
        restarts: this.#state.restarts + 1,
      });
      const lines = readLastLines(pathOf.log(this.#context.home, this.part.name), LAST_LINES);
      this.#events.onNote(`${this.part.name} ${reason}${lines.map((line) => `\n    ${line}`).join('')}`);
      const backOffMs = Math.min(FIRST_BACK_OFF_MS * 2 ** (failures - 1), LAST_BACK_OFF_MS);
      await Promise.race([delay(backOffMs, undefined, { ref: false }), this.#stopped()]);
    }
  }

  /** From its start to its end; answers why it ended. */
  async #runOnce(): Promise<string> {
    try {
      await this.part.prepare?.(this.#context);
      const running = await this.#adoptOrStart();
      const { identity } = running;
      this.#change({ phase: 'starting', process: identity });
      const obstacle = await this.#awaitReady(running);
      if (obstacle !== undefined) {
        if (!this.#stopping.signal.aborted) await terminate(identity, this.part.graceMs);
        return obstacle;
      }
      this.#events.onNote(
        `${this.part.name} is ready (process ${identity.pid}${running.adopted ? ', adopted' : ''})`,
      );
      this.#change({ phase: 'ready', failures: 0, reason: null });
      this.#becameReady.resolve();
      return await running.ended;
    } catch (error) {
      return `cannot be started: ${messageOf(error)}`;
    }
  }

  async #adoptOrStart(): Promise<PartProcess> {
    const { home } = this.#context;
    const command = this.part.command(this.#context);
    const adopted = adoptProcess(home, this.part.name, command, this.#state.process);
    if (adopted !== undefined) return adopted;
    await this.#endOutdated(this.#state.process);
    return startProcess(home, this.part.name, command);
  }

  /** What an earlier version of the part has left running makes room for this one. */
  async #endOutdated(recorded: ProcessIdentity | null): Promise<void> {
    if (recorded === null || !isAlive(recorded)) return;
    const marked = findMarked(this.#context.home, this.part.name);
    if (marked.some(({ pid }) => pid === recorded.pid)) await terminate(recorded, this.part.graceMs);
  }

  /** Nothing when the part serves; otherwise why it does not, once there is no more point in waiting. */
  async #awaitReady(running: PartProcess): Promise<string | undefined> {
    const deadline = Date.now() + READY_LIMIT_MS;
    let ended: string | undefined;
    const end = running.ended.then((how) => (ended = how));
    for (;;) {
      try {
        await this.part.checkReady(this.#context);
        await this.part.afterReady?.(this.#context);
        if (ended === undefined && isAlive(running.identity)) return undefined;
      } catch (error) {
        this.#setReason(messageOf(error));
      }
      await Promise.race([end, this.#stopped(), delay(READY_POLL_MS, undefined, { ref: false })]);
      if (ended !== undefined) return ended;
      if (this.#stopping.signal.aborted) return 'was stopped';
      if (Date.now() > deadline)
        return `did not become ready within ${READY_LIMIT_MS / 1000} s: ${this.#state.reason}`;
    }
  }

  #setReason(reason: string): void {
    if (reason !== this.#state.reason) this.#change({ reason });
  }

  #stopped(): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  #change(changes: Partial<PartState>): void {
    this.#state = { ...this.#state, ...changes };
    this.#events.onChange(this.#state);
  }
}
