import { describe, expect, it } from 'vitest';
import { mayTake } from '../../../activities/valkey/places.ts';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';

const { scheduling } = DEFAULT_SPEC;
const READY = { conditions: [{ type: 'Ready', status: 'True' }] };
const TAINT = { key: 'dedicated', value: 'cache', effect: 'NoSchedule' };
const node = (change: object = {}) => ({
  metadata: { name: 'node-1', uid: 'u', resourceVersion: '1', labels: { disk: 'ssd' } },
  spec: {},
  status: READY,
  ...change,
});

describe('a node may take a pod', () => {
  it.each([
    ['when nothing speaks against it', node(), scheduling, true],
    ['not while it is cordoned', node({ spec: { unschedulable: true } }), scheduling, false],
    ['not while it is not ready', node({ status: {} }), scheduling, false],
    ['not with a taint that is not tolerated', node({ spec: { taints: [TAINT] } }), scheduling, false],
    [
      'with a taint that is tolerated by its value',
      node({ spec: { taints: [TAINT] } }),
      { ...scheduling, tolerations: [{ key: 'dedicated', value: 'cache' }] },
      true,
    ],
    [
      'with any taint that is tolerated whatever it says',
      node({ spec: { taints: [TAINT] } }),
      { ...scheduling, tolerations: [{ operator: 'Exists' }] },
      true,
    ],
    ['with the label that is asked for', node(), { ...scheduling, nodeSelector: { disk: 'ssd' } }, true],
    ['not without it', node(), { ...scheduling, nodeSelector: { disk: 'hdd' } }, false],
  ] as const)('%s', (_, seen, wish, may) => {
    expect(mayTake(seen, wish)).toBe(may);
  });
});
