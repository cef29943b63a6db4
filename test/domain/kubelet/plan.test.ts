import { describe, expect, test } from 'vitest';
import type { Pod } from '../../../deploy/local/kubelet/api/objects.ts';
import { planPod } from '../../../deploy/local/kubelet/pod/plan.ts';
import type { PodAction, PodView } from '../../../deploy/local/kubelet/pod/plan.ts';
import type { PodRecord } from '../../../deploy/local/kubelet/pod/record.ts';
import { NOW, container, ended, own, pod, record, running, starting, view, waiting } from './pod-fixture.ts';

/** Actions as words, so that a table of them can be read. */
function say(action: PodAction): string {
  if (action.kind === 'stop') return `stop ${action.container.name} in ${action.graceMs / 1000}s`;
  if (action.kind === 'start') return `start ${action.container.name}`;
  if (action.kind === 'backOff') return `hold ${action.container.name} for ${action.untilMs - NOW}ms`;
  return action.kind;
}

interface Row {
  readonly name: string;
  readonly pod: Pod;
  readonly record: PodRecord;
  readonly more?: Partial<PodView>;
  readonly actions: readonly string[];
  readonly wakeInMs?: number;
}

const deleted = { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 };
const withInit = pod({ initContainers: [container('first'), container('second')] });
const sidecar = container('side', { restartPolicy: 'Always' });
const withSidecar = pod({ initContainers: [sidecar, container('second')] });

const rows: readonly Row[] = [
  {
    name: 'prepares a new pod before anything else',
    pod: pod(),
    record: record({}, { prepared: false }),
    actions: ['prepare'],
  },
  { name: 'starts the container of a prepared pod', pod: pod(), record: record({}), actions: ['start main'] },
  {
    name: 'starts all main containers at once',
    pod: pod({ containers: [container('a'), container('b')] }),
    record: record({}),
    actions: ['start a', 'start b'],
  },
  {
    name: 'leaves a running container alone',
    pod: pod(),
    record: record({ main: own(running()) }),
    actions: [],
  },
  {
    name: 'does not start twice what is starting',
    pod: pod(),
    record: record({ main: own(starting) }),
    actions: [],
  },
  {
    name: 'waits for the time of the next attempt',
    pod: pod(),
    record: record({ main: own(waiting('ErrImagePull', NOW + 700)) }),
    actions: [],
    wakeInMs: 700,
  },
  {
    name: 'tries again when that time has come',
    pod: pod(),
    record: record({ main: own(waiting('ErrImagePull', NOW)) }),
    actions: ['start main'],
  },
  {
    name: 'restarts at once after the first crash',
    pod: pod(),
    record: record({ main: own(ended(1)) }),
    actions: ['start main'],
  },
  {
    name: 'holds the second restart back',
    pod: pod(),
    record: record({ main: own(ended(1), { backOffMs: 1_000 }) }),
    actions: ['hold main for 1000ms'],
    wakeInMs: 1_000,
  },
  {
    name: 'restarts a container that completed under Always',
    pod: pod(),
    record: record({ main: own(ended(0)) }),
    actions: ['start main'],
  },
  {
    name: 'leaves a completed container under OnFailure',
    pod: pod({ restartPolicy: 'OnFailure' }),
    record: record({ main: own(ended(0)) }),
    actions: [],
  },
  {
    name: 'restarts a failed container under OnFailure',
    pod: pod({ restartPolicy: 'OnFailure' }),
    record: record({ main: own(ended(2)) }),
    actions: ['start main'],
  },
  {
    name: 'leaves a failed container under Never',
    pod: pod({ restartPolicy: 'Never' }),
    record: record({ main: own(ended(2)) }),
    actions: [],
  },
  {
    name: 'runs init containers one after the other',
    pod: withInit,
    record: record({ first: own(ended(0)) }, { initialized: false }),
    actions: ['start second'],
  },
  {
    name: 'keeps main containers waiting while an init container runs',
    pod: withInit,
    record: record({ first: own(running()) }, { initialized: false }),
    actions: [],
  },
  {
    name: 'repeats a failed init container',
    pod: withInit,
    record: record({ first: own(ended(1)) }, { initialized: false }),
    actions: ['start first'],
  },
  {
    name: 'gives up after a failed init container under Never',
    pod: pod({ ...withInit.spec, restartPolicy: 'Never' }),
    record: record({ first: own(ended(1)) }, { initialized: false }),
    actions: [],
  },
  {
    name: 'waits for a sidecar to have started',
    pod: withSidecar,
    record: record({ side: own(running(), { started: false }) }, { initialized: false }),
    actions: [],
  },
  {
    name: 'goes on beside a sidecar that has started',
    pod: withSidecar,
    record: record({ side: own(running()) }, { initialized: false }),
    actions: ['start second'],
  },
  {
    name: 'restarts a sidecar without running init containers again',
    pod: withSidecar,
    record: record({ side: own(ended(1)), second: own(ended(0)), main: own(running()) }),
    actions: ['start side'],
  },
  {
    name: 'stops sidecars when the main containers are done',
    pod: pod({ initContainers: [sidecar], restartPolicy: 'Never' }),
    record: record({ side: own(running()), main: own(ended(0)) }),
    actions: ['stop side in 30s'],
  },
  {
    name: 'stops the containers of a deleted pod within its grace period',
    pod: pod({}, deleted),
    record: record({ main: own(running()) }),
    actions: ['stop main in 30s'],
  },
  {
    name: 'counts the grace period from the first signal',
    pod: pod({}, deleted),
    record: record({ main: own(running()) }, { stopSinceMs: NOW - 10_000 }),
    actions: ['stop main in 20s'],
  },
  {
    name: 'obeys a second deletion with less grace',
    pod: pod({}, { ...deleted, deletionGracePeriodSeconds: 5 }),
    record: record({ main: own(running()) }, { stopSinceMs: NOW - 1_000 }),
    actions: ['stop main in 4s'],
  },
  {
    name: 'stops main containers before sidecars',
    pod: pod({ initContainers: [sidecar] }, deleted),
    record: record({ side: own(running()), main: own(running()) }),
    actions: ['stop main in 30s'],
  },
  {
    name: 'stops sidecars from the last to the first',
    pod: pod({ initContainers: [sidecar, { ...sidecar, name: 'later' }] }, deleted),
    record: record({ side: own(running()), later: own(running()), main: own(ended(0)) }),
    actions: ['stop later in 30s'],
  },
  {
    name: 'lets a container that is just starting come up before it stops it',
    pod: pod({}, deleted),
    record: record({ main: own(starting) }),
    actions: [],
  },
  {
    name: 'finishes a deleted pod whose containers have stopped',
    pod: pod({}, deleted),
    record: record({ main: own(ended(0)) }),
    actions: ['finish'],
  },
  {
    name: 'finishes a deleted pod that never started',
    pod: pod({}, deleted),
    record: record({}, { prepared: false }),
    actions: ['finish'],
  },
  {
    name: 'stops a pod whose object is gone, without waiting for a deletion',
    pod: pod(),
    record: record({ main: own(running()) }),
    more: { gone: true },
    actions: ['stop main in 30s'],
  },
  {
    name: 'does not run again a pod that had ended before',
    pod: pod(),
    record: record({}, { prepared: false, alreadyEnded: true }),
    actions: [],
  },
  {
    name: 'restarts a container that its liveness probe has given up, with the grace of the probe',
    pod: pod({ containers: [container('main', { livenessProbe: { terminationGracePeriodSeconds: 3 } })] }),
    record: record({ main: own(running(), { unhealthy: 'failed liveness probe' }) }),
    actions: ['stop main in 3s'],
  },
  {
    name: 'restarts a container whose image was changed',
    pod: pod({ containers: [container('main', { image: 'box:2' })] }),
    record: record({ main: own(running()) }),
    actions: ['stop main in 30s'],
  },
  {
    name: 'fails a pod that is past its deadline',
    pod: pod({ activeDeadlineSeconds: 60 }),
    record: record({ main: own(running()) }),
    actions: ['fail'],
  },
  {
    name: 'wakes at the deadline',
    pod: pod({ activeDeadlineSeconds: 61 }),
    record: record({ main: own(running()) }),
    actions: [],
    wakeInMs: 1_000,
  },
  {
    name: 'stops what runs in a pod that failed as a whole',
    pod: pod(),
    record: record({ main: own(running()) }, { failure: { reason: 'DeadlineExceeded', message: '' } }),
    actions: ['stop main in 30s'],
  },
];

describe('the plan for a pod', () => {
  test.each(rows)('$name', ({ pod: of, record: known, more, actions, wakeInMs }) => {
    const plan = planPod(view(of, known, more));
    expect(plan.actions.map(say)).toEqual(actions);
    expect(plan.wakeAtMs === undefined ? undefined : plan.wakeAtMs - NOW).toBe(wakeInMs);
  });
});
