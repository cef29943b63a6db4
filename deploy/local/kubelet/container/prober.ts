import type { Container, Probe } from '../api/objects.ts';
import { advanceProbe, createProbeState } from '../pod/probe-state.ts';
import type { ProbeKind, ProbeState } from '../pod/probe-state.ts';
import type { ExecResult } from './execution.ts';

/** What a prober tells, each time that something changes. */
export interface ProberEvents {
  readonly started: () => void;
  readonly readiness: (ready: boolean) => void;
  /** A liveness or startup probe has failed too often. */
  readonly unhealthy: (message: string) => void;
  /** A single answer was bad, whether or not it changes anything. */
  readonly failed: (kind: ProbeKind, output: string) => void;
}

/** Runs the probes of one container for one of its runs: startup first, then readiness and liveness side by side. */
export class Prober {
  private readonly container: Container;
  private readonly run: (probe: Probe, timeoutMs: number) => Promise<ExecResult>;
  private readonly events: ProberEvents;
  private readonly startedAtMs: number;
  private readonly stops = new Map<ProbeKind, AbortController>();

  constructor(
    container: Container,
    run: (probe: Probe, timeoutMs: number) => Promise<ExecResult>,
    startedAtMs: number,
    events: ProberEvents,
  ) {
    this.container = container;
    this.run = run;
    this.startedAtMs = startedAtMs;
    this.events = events;
  }

  /** Begins; a container of an earlier process of this node keeps what its probes had found. */
  start(started: boolean, ready: boolean): void {
    const { startupProbe } = this.container;
    if (startupProbe === undefined || started) this.pass(ready);
    else
      this.begin('startup', startupProbe, createProbeState('startup'), (verdict) => {
        if (verdict === 'success') {
          this.halt('startup');
          this.pass(false);
        } else this.fail('startup');
      });
  }

  /** Ends all probes, or all but readiness, which goes on while a container is being stopped. */
  stop(keepReadiness = false): void {
    for (const kind of this.stops.keys()) if (!(keepReadiness && kind === 'readiness')) this.halt(kind);
  }

  private pass(ready: boolean): void {
    const { readinessProbe, livenessProbe } = this.container;
    const unready = createProbeState('readiness');
    const initial: ProbeState = ready ? { ...unready, verdict: 'success' } : unready;
    this.events.started();
    if (readinessProbe === undefined) this.events.readiness(true);
    else
      this.begin('readiness', readinessProbe, initial, (verdict) =>
        this.events.readiness(verdict === 'success'),
      );
    if (livenessProbe === undefined) return;
    this.begin('liveness', livenessProbe, createProbeState('liveness'), (verdict) => {
      if (verdict === 'failure') this.fail('liveness');
    });
  }

  private fail(kind: ProbeKind): void {
    this.stop();
    this.events.unhealthy(`Container ${this.container.name} failed ${kind} probe, will be restarted`);
  }

  private halt(kind: ProbeKind): void {
    this.stops.get(kind)?.abort();
    this.stops.delete(kind);
  }

  private begin(
    kind: ProbeKind,
    probe: Probe,
    initial: ProbeState,
    onVerdict: (verdict: 'success' | 'failure') => void,
  ): void {
    const stop = new AbortController();
    this.stops.set(kind, stop);
    let state = initial;
    let timer: NodeJS.Timeout | undefined;
    stop.signal.addEventListener('abort', () => clearTimeout(timer));
    const periodMs = (probe.periodSeconds ?? 10) * 1000;
    const probeOnce = async (): Promise<void> => {
      const beganAtMs = Date.now();
      const { ok, output } = await this.run(probe, (probe.timeoutSeconds ?? 1) * 1000);
      if (stop.signal.aborted) return;
      timer = setTimeout(() => void probeOnce(), Math.max(beganAtMs + periodMs - Date.now(), 0));
      const before = state.verdict;
      state = advanceProbe(state, ok, probe);
      if (!ok) this.events.failed(kind, output);
      if (state.verdict !== 'unknown' && state.verdict !== before) onVerdict(state.verdict);
    };
    const delayMs = this.startedAtMs + (probe.initialDelaySeconds ?? 0) * 1000 - Date.now();
    timer = setTimeout(() => void probeOnce(), Math.max(delayMs, 0));
  }
}
