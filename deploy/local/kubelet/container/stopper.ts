import type { ContainerProcess } from './process.ts';
import { readProgram, signalProcess } from './proc.ts';

/** The least time between the polite signal and the kill. */
const minimumMs = 2_000;
const setupPollMs = 5;

/** Brings one container down: its hook, its signal, and the kill when its time is over. */
export class Stopper {
  private readonly process: ContainerProcess;
  private readonly signal: NodeJS.Signals;
  private deadlineMs: number;
  private signalledAtMs: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(process: ContainerProcess, signal: NodeJS.Signals, deadlineMs: number) {
    this.process = process;
    this.signal = signal;
    this.deadlineMs = deadlineMs;
  }

  /** Begins; resolves when the container has ended. */
  async run(preStop: ((timeoutMs: number) => Promise<void>) | undefined): Promise<void> {
    const ended = this.process.exited.then(() => undefined);
    if (preStop !== undefined)
      await Promise.race([ended, preStop(Math.max(this.deadlineMs - Date.now(), 0))]);
    await this.awaitProgram();
    signalProcess(this.process.init, this.signal);
    this.signalledAtMs = Date.now();
    this.arm();
    await ended;
    clearTimeout(this.timer);
  }

  /** Takes an earlier deadline, e.g. when a pod is deleted again with less grace; a later one changes nothing. */
  shorten(deadlineMs: number): void {
    if (deadlineMs >= this.deadlineMs) return;
    this.deadlineMs = deadlineMs;
    if (this.signalledAtMs !== undefined) this.arm();
  }

  private arm(): void {
    clearTimeout(this.timer);
    const killAtMs = Math.max(this.deadlineMs, (this.signalledAtMs ?? 0) + minimumMs);
    this.timer = setTimeout(
      () => signalProcess(this.process.init, 'SIGKILL'),
      Math.max(killAtMs - Date.now(), 0),
    );
  }

  /** A signal that comes while the sandbox is still being set up would be lost, so that the program is awaited. */
  private async awaitProgram(): Promise<void> {
    const sandbox = readProgram(this.process.sandbox.pid);
    while (
      sandbox !== undefined &&
      readProgram(this.process.init.pid) === sandbox &&
      Date.now() < this.deadlineMs
    ) {
      await new Promise((resolve) => setTimeout(resolve, setupPollMs));
    }
  }
}
