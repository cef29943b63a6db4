import type { Probe } from '../api/objects.ts';

/** The three probes of a container. */
export type ProbeKind = 'startup' | 'readiness' | 'liveness';

/** What a probe has come to think, and the run of equal answers that led there. */
export interface ProbeState {
  readonly verdict: 'unknown' | 'success' | 'failure';
  readonly lastOk: boolean | undefined;
  readonly run: number;
}

/** Before the first answer a container is alive, but neither started nor ready. */
export function createProbeState(kind: ProbeKind): ProbeState {
  const verdict = { startup: 'unknown', readiness: 'failure', liveness: 'success' } as const;
  return { verdict: verdict[kind], lastOk: undefined, run: 0 };
}

/** Takes one answer: the verdict changes only when enough equal answers came in a row. */
export function advanceProbe(state: ProbeState, ok: boolean, probe: Probe): ProbeState {
  const run = state.lastOk === ok ? state.run + 1 : 1;
  const threshold = ok ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3);
  if (run < threshold) return { verdict: state.verdict, lastOk: ok, run };
  return { verdict: ok ? 'success' : 'failure', lastOk: ok, run };
}
