import { describe, expect, test } from 'vitest';
import type { Pod, PodStatus } from '../../../deploy/local/kubelet/api/objects.ts';
import { buildStatus } from '../../../deploy/local/kubelet/pod/status.ts';
import { buildPatch } from '../../../deploy/local/kubelet/pod/status-writer.ts';
import type { PodRecord } from '../../../deploy/local/kubelet/pod/record.ts';
import { NOW, container, ended, own, pod, record, running, starting, waiting } from './pod-fixture.ts';

function statusOf(
  of: Pod,
  known: PodRecord,
  over = false,
  previous: PodStatus['conditions'] = [],
): PodStatus {
  return buildStatus({ pod: of, record: known, hostIP: '127.41.0.1', previous, over, nowMs: NOW });
}

function conditionsOf(status: PodStatus): Record<string, string> {
  return Object.fromEntries((status.conditions ?? []).map(({ type, status: value }) => [type, value]));
}

const never = pod({ restartPolicy: 'Never' });
const onFailure = pod({ restartPolicy: 'OnFailure' });
const twins = pod({ restartPolicy: 'Never', containers: [container('a'), container('b')] });
const withInit = pod({ initContainers: [container('init')] });
const withSidecar = pod({ initContainers: [container('side', { restartPolicy: 'Always' })] });

const phases: readonly [string, Pod, PodRecord, string][] = [
  ['a pod that is being prepared', pod(), record({}, { prepared: false, initialized: false }), 'Pending'],
  ['a container that is starting', pod(), record({ main: own(starting) }), 'Pending'],
  [
    'an image that cannot be found',
    pod(),
    record({ main: own(waiting('ErrImagePull'), { attempts: 0 }) }),
    'Pending',
  ],
  ['a running container', pod(), record({ main: own(running()) }), 'Running'],
  ['one container of two running', twins, record({ a: own(running()), b: own(ended(0)) }), 'Running'],
  ['one container of two not yet started', twins, record({ a: own(running()) }), 'Pending'],
  ['a crash under Always', pod(), record({ main: own(ended(1)) }), 'Running'],
  [
    'a crash loop',
    pod(),
    record({
      main: own(waiting('CrashLoopBackOff'), {
        last: { exitCode: 1, reason: 'Error', startedAtMs: 0, finishedAtMs: 0, containerId: '' },
      }),
    }),
    'Running',
  ],
  ['success under Never', never, record({ main: own(ended(0)) }), 'Succeeded'],
  ['failure under Never', never, record({ main: own(ended(3)) }), 'Failed'],
  ['success under OnFailure', onFailure, record({ main: own(ended(0)) }), 'Succeeded'],
  ['failure under OnFailure', onFailure, record({ main: own(ended(3)) }), 'Running'],
  ['one failure among two', twins, record({ a: own(ended(0)), b: own(ended(1)) }), 'Failed'],
  ['a running init container', withInit, record({ init: own(running()) }, { initialized: false }), 'Pending'],
  [
    'a failed init container that is repeated',
    withInit,
    record({ init: own(ended(1)) }, { initialized: false }),
    'Pending',
  ],
  [
    'a failed init container under Never',
    pod({ ...withInit.spec, restartPolicy: 'Never' }),
    record({ init: own(ended(1)) }, { initialized: false }),
    'Failed',
  ],
  [
    'a sidecar that has not started',
    withSidecar,
    record({ side: own(running(), { started: false }) }, { initialized: false }),
    'Pending',
  ],
  [
    'a sidecar beside a running container',
    withSidecar,
    record({ side: own(running()), main: own(running()) }),
    'Running',
  ],
  [
    'a pod past its deadline',
    pod(),
    record({ main: own(ended(137)) }, { failure: { reason: 'DeadlineExceeded', message: 'too long' } }),
    'Failed',
  ],
];

describe('the phase of a pod', () => {
  test.each(phases)('%s', (_name, of, known, phase) => {
    expect(statusOf(of, known).phase).toBe(phase);
  });

  test('is final when all has stopped for good, whatever the restart policy', () => {
    expect(statusOf(pod(), record({ main: own(ended(0)) }), true).phase).toBe('Succeeded');
    expect(statusOf(pod(), record({ main: own(ended(137)) }), true).phase).toBe('Failed');
  });
});

describe('the conditions of a pod', () => {
  test('come true one after the other', () => {
    const all = { PodScheduled: 'True' };
    const begin = record({}, { prepared: false, initialized: false });
    delete begin.address;
    expect(conditionsOf(statusOf(withInit, begin))).toEqual({
      ...all,
      PodReadyToStartContainers: 'False',
      Initialized: 'False',
      ContainersReady: 'False',
      Ready: 'False',
    });
    const unready = record({ init: own(ended(0)), main: own(running(), { ready: false }) });
    expect(conditionsOf(statusOf(withInit, unready))).toMatchObject({ Initialized: 'True', Ready: 'False' });
    const ready = record({ init: own(ended(0)), main: own(running()) });
    expect(conditionsOf(statusOf(withInit, ready))).toMatchObject({ ContainersReady: 'True', Ready: 'True' });
  });

  test('name the containers that are not ready', () => {
    const status = statusOf(twins, record({ a: own(running()), b: own(running(), { ready: false }) }));
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [b]',
    });
  });

  test('wait for readiness gates that others open', () => {
    const gated = pod({ readinessGates: [{ conditionType: 'example.com/open' }] });
    const known = record({ main: own(running()) });
    expect(conditionsOf(statusOf(gated, known))).toMatchObject({ ContainersReady: 'True', Ready: 'False' });
    const open = { ...gated, status: { conditions: [{ type: 'example.com/open', status: 'True' }] } };
    expect(conditionsOf(statusOf(open, known))).toMatchObject({ Ready: 'True' });
  });

  test('keep the time of their last transition', () => {
    const known = record({ main: own(running()) });
    const before = '2025-12-31T00:00:00Z';
    const previous = [
      { type: 'Ready', status: 'True', lastTransitionTime: before },
      { type: 'ContainersReady', status: 'False', lastTransitionTime: before },
    ];
    const { conditions } = statusOf(pod(), known, false, previous);
    expect(conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime).toBe(before);
    expect(conditions?.find(({ type }) => type === 'ContainersReady')?.lastTransitionTime).toBe(
      '2026-01-01T00:00:00Z',
    );
  });

  test('are not ready after completion, with the reason', () => {
    const { conditions } = statusOf(never, record({ main: own(ended(0)) }));
    expect(conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'PodCompleted',
    });
  });
});

describe('the status of a container', () => {
  test('counts restarts from the second run', () => {
    const [first] =
      statusOf(pod(), record({ main: own(running(), { attempts: 1 }) })).containerStatuses ?? [];
    const [third] =
      statusOf(pod(), record({ main: own(running(), { attempts: 3 }) })).containerStatuses ?? [];
    expect(first).toMatchObject({
      restartCount: 0,
      containerID: 'keelson://uid-1/main/0',
      ready: true,
      started: true,
    });
    expect(third).toMatchObject({ restartCount: 2, containerID: 'keelson://uid-1/main/2' });
  });

  test('waits as PodInitializing behind init containers, else as ContainerCreating', () => {
    expect(statusOf(withInit, record({})).containerStatuses?.[0]?.state.waiting?.reason).toBe(
      'PodInitializing',
    );
    expect(statusOf(pod(), record({})).containerStatuses?.[0]?.state.waiting?.reason).toBe(
      'ContainerCreating',
    );
  });

  test('shows a completed init container as ready', () => {
    expect(statusOf(withInit, record({ init: own(ended(0)) })).initContainerStatuses?.[0]).toMatchObject({
      ready: true,
      started: false,
      state: { terminated: { exitCode: 0, reason: 'Completed' } },
    });
  });
});

test('a status patch replaces addresses and takes back reasons that no longer hold', () => {
  const patch = buildPatch(statusOf(pod(), record({ main: own(running()) })));
  expect(patch).toMatchObject({
    reason: null,
    podIPs: [{ ip: '127.41.1.1' }, { $patch: 'replace' }],
    conditions: expect.arrayContaining([
      expect.objectContaining({ type: 'Ready', status: 'True', reason: null, message: null }),
    ]),
  });
});
