import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Container } from '../../../deploy/local/kubelet/api/objects.ts';
import { Prober } from '../../../deploy/local/kubelet/container/prober.ts';
import { selectNextDelay, selectRestartTime } from '../../../deploy/local/kubelet/pod/back-off.ts';
import { advanceProbe, createProbeState } from '../../../deploy/local/kubelet/pod/probe-state.ts';
import type { ProbeKind } from '../../../deploy/local/kubelet/pod/probe-state.ts';
import type { Termination } from '../../../deploy/local/kubelet/pod/record.ts';
import { NOW, backOff, container, own, running } from './pod-fixture.ts';

describe('the verdict of a probe', () => {
  const thresholds = { successThreshold: 2, failureThreshold: 3 };

  test.each([
    ['readiness', '', 'failure'],
    ['readiness', '+', 'failure'],
    ['readiness', '++', 'success'],
    ['readiness', '+-+', 'failure'],
    ['readiness', '++--', 'success'],
    ['readiness', '++---', 'failure'],
    ['readiness', '++--+--', 'success'],
    ['liveness', '', 'success'],
    ['liveness', '--', 'success'],
    ['liveness', '---', 'failure'],
    ['startup', '', 'unknown'],
    ['startup', '--', 'unknown'],
    ['startup', '---', 'failure'],
  ] satisfies [ProbeKind, string, string][])('%s after "%s" is %s', (kind, answers, verdict) => {
    const end = answers
      .split('')
      .reduce((state, answer) => advanceProbe(state, answer === '+', thresholds), createProbeState(kind));
    expect(end.verdict).toBe(verdict);
  });
});

describe('the prober', () => {
  beforeEach(() => void vi.useFakeTimers({ now: NOW }));
  afterEach(() => void vi.useRealTimers());

  interface Trial {
    readonly said: string[];
    readonly asked: string[];
    readonly prober: Prober;
    /** What the probes answer, by the path of their httpGet. */
    readonly answers: Record<string, boolean>;
  }

  function begin(more: Partial<Container>, started = false, ready = false): Trial {
    const said: string[] = [];
    const asked: string[] = [];
    const answers: Record<string, boolean> = {};
    const run = async (probe: { httpGet?: { path?: string } }): Promise<{ ok: boolean; output: string }> => {
      const path = probe.httpGet?.path ?? '';
      asked.push(path);
      return { ok: answers[path] ?? true, output: 'no' };
    };
    const prober = new Prober(container('main', more), run, NOW, {
      started: () => said.push('started'),
      readiness: (is) => said.push(is ? 'ready' : 'unready'),
      unhealthy: (message) => said.push(message),
      failed: () => undefined,
    });
    prober.start(started, ready);
    return { said, asked, prober, answers };
  }

  const get = (path: string) => ({ httpGet: { path, port: 80 }, periodSeconds: 1, failureThreshold: 2 });

  test('a container without probes is started and ready at once', () => {
    expect(begin({}).said).toEqual(['started', 'ready']);
  });

  test('holds readiness and liveness back until the startup probe has passed', async () => {
    const trial = begin({
      startupProbe: { ...get('s'), failureThreshold: 9 },
      readinessProbe: get('r'),
      livenessProbe: get('l'),
    });
    trial.answers['s'] = false;
    await vi.advanceTimersByTimeAsync(2_500);
    expect(new Set(trial.asked)).toEqual(new Set(['s']));
    trial.answers['s'] = true;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(trial.said).toEqual(['started', 'ready']);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(trial.asked.slice(-2).sort()).toEqual(['l', 'r']);
    trial.prober.stop();
  });

  test('waits for the initial delay', async () => {
    const trial = begin({ readinessProbe: { ...get('r'), initialDelaySeconds: 5 } });
    await vi.advanceTimersByTimeAsync(4_900);
    expect(trial.asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(trial.said).toEqual(['started', 'ready']);
    trial.prober.stop();
  });

  test('asks for a restart once when liveness has failed often enough', async () => {
    const trial = begin({ livenessProbe: get('l') });
    trial.answers['l'] = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(trial.said).toEqual([
      'started',
      'ready',
      'Container main failed liveness probe, will be restarted',
    ]);
  });

  test('goes on with readiness while the container is being stopped', async () => {
    const trial = begin({ readinessProbe: get('r'), livenessProbe: get('l') });
    await vi.advanceTimersByTimeAsync(100);
    trial.prober.stop(true);
    trial.answers['r'] = false;
    trial.answers['l'] = false;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(trial.said).toEqual(['started', 'ready', 'unready']);
    trial.prober.stop();
  });

  test('keeps what was known before a restart of the node process', async () => {
    const trial = begin({ startupProbe: get('s'), readinessProbe: get('r') }, true, true);
    trial.answers['r'] = false;
    await vi.advanceTimersByTimeAsync(100);
    expect(trial.said).toEqual(['started']);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(trial.said).toEqual(['started', 'unready']);
    trial.prober.stop();
  });
});

describe('the back-off between restarts', () => {
  const ranFor = (ms: number): Termination => ({
    exitCode: 1,
    reason: 'Error',
    startedAtMs: NOW - ms,
    finishedAtMs: NOW,
    containerId: '',
  });

  test('doubles from the second restart to its limit', () => {
    const record = own(running());
    const waits: number[] = [];
    for (let crash = 0; crash < 8; crash += 1) {
      waits.push(selectRestartTime(record, ranFor(10), backOff) - NOW);
      record.backOffMs = selectNextDelay(record, ranFor(10), backOff);
    }
    expect(waits).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  test('is forgotten after a long healthy run', () => {
    const record = own(running(), { backOffMs: 16_000 });
    expect(selectRestartTime(record, ranFor(60_000), backOff)).toBe(NOW);
    expect(selectNextDelay(record, ranFor(60_000), backOff)).toBe(1_000);
    expect(selectRestartTime(record, ranFor(59_000), backOff)).toBe(NOW + 16_000);
  });
});
