import { describe, expect, test } from 'vitest';
import { describePods } from '../../../activities/kubernetes/await-pods.ts';
import type { Pod } from '../../../activities/kubernetes/objects.ts';
import { podSeen } from '../../../activities/kubernetes/pod-state.ts';

const pod = (status: NonNullable<Pod['status']>, meta: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: { name: 'cache-0-0', uid: 'u', resourceVersion: '1', ...meta },
  spec: { nodeName: 'node-1', containers: [{ name: 'valkey', image: 'valkey/valkey:9.1.2' }] },
  status,
});
const READY = [{ type: 'Ready', status: 'True' }];
const container = (state: object, restartCount = 0) => ({
  name: 'valkey',
  ready: false,
  restartCount,
  state,
});

describe('a pod', () => {
  test.each([
    ['is ready', { conditions: READY, podIP: '10.0.0.1' }, null],
    [
      'is being created',
      { containerStatuses: [container({ waiting: { reason: 'ContainerCreating' } })] },
      null,
    ],
    [
      'has an image that cannot be pulled',
      { containerStatuses: [container({ waiting: { reason: 'ErrImagePull', message: 'no such image' } })] },
      'ErrImagePull: no such image',
    ],
    [
      'crashes again and again',
      {
        containerStatuses: [
          container({ waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } }, 3),
        ],
      },
      'CrashLoopBackOff: back-off 10s',
    ],
    [
      'has just crashed',
      { containerStatuses: [container({ terminated: { reason: 'Error', exitCode: 2 } })] },
      'Error: exit code 2',
    ],
    [
      'fits on no node',
      {
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message: '0/3 nodes are available',
          },
        ],
      },
      'Unschedulable: 0/3 nodes are available',
    ],
    [
      'waits for its init container',
      { initContainerStatuses: [container({ waiting: { reason: 'ImagePullBackOff' } })] },
      'ImagePullBackOff',
    ],
    [
      'restarted and is not ready again',
      { containerStatuses: [container({}, 1)] },
      'is not ready after a restart',
    ],
  ])('that %s says so', (_, status, waiting) => {
    expect(podSeen(pod(status)).waiting).toBe(waiting);
  });

  test('that is being deleted is not ready, whatever its condition says', () => {
    const going = podSeen(pod({ conditions: READY }, { deletionTimestamp: '2026-01-01T00:00:00Z' }));
    expect(going).toMatchObject({ ready: false, waiting: 'is being deleted' });
  });
});

describe('progress', () => {
  const seen = (name: string, ready: boolean, waiting: string | null = null) => ({
    name,
    uid: name,
    ip: null,
    node: null,
    ready,
    waiting,
  });

  test('counts the ready ones and names what holds the others', () => {
    expect(describePods([seen('a', true), seen('b', false, 'ErrImagePull: x'), seen('c', false)], 4)).toBe(
      '1 of 4 pods are Ready; b: ErrImagePull: x',
    );
  });

  test('stays short when many are held', () => {
    const held = ['a', 'b', 'c', 'd', 'e'].map((name) => seen(name, false, 'Unschedulable'));
    expect(describePods(held, 5)).toBe(
      '0 of 5 pods are Ready; a: Unschedulable; b: Unschedulable; c: Unschedulable; and 2 more',
    );
  });

  test('says when more are there than wanted', () => {
    expect(describePods([seen('a', true), seen('b', false, 'is being deleted')], 1)).toBe(
      '1 of 1 pods are Ready; 1 more than wanted are still there; b: is being deleted',
    );
  });
});
