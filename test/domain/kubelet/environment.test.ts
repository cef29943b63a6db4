import { describe, expect, test } from 'vitest';
import type { Container, KeyedData } from '../../../deploy/local/kubelet/api/objects.ts';
import { buildEnvironment, expand } from '../../../deploy/local/kubelet/pod/environment.ts';
import { divideQuantity, numberOf } from '../../../deploy/local/kubelet/pod/quantity.ts';
import { container, pod } from './pod-fixture.ts';

const metadata = { name: 'x', namespace: 'default', uid: 'u' };
const data = {
  configMaps: new Map<string, KeyedData>([['conf', { metadata, data: { a: '1', b: '2' } }]]),
  secrets: new Map<string, KeyedData>([
    ['keys', { metadata, data: { password: Buffer.from('s3cret').toString('base64') } }],
  ]),
};
const facts = { podIP: '127.41.1.7', hostIP: '127.41.0.1', allocatable: { cpu: '8', memory: '16Gi' } };
const owner = pod(
  { serviceAccountName: 'robot' },
  { labels: { 'app.kubernetes.io/name': 'web' }, annotations: { note: 'hello' } },
);

function environmentOf(more: Partial<Container>): Record<string, string> {
  return Object.fromEntries(buildEnvironment(owner, container('main', more), facts, data));
}

function field(fieldPath: string): Partial<Container> {
  return { env: [{ name: 'X', valueFrom: { fieldRef: { fieldPath } } }] };
}

describe('a field of the pod as a variable', () => {
  test.each([
    ['metadata.name', 'web-0'],
    ['metadata.namespace', 'default'],
    ['metadata.uid', 'uid-1'],
    ["metadata.labels['app.kubernetes.io/name']", 'web'],
    ["metadata.annotations['note']", 'hello'],
    ["metadata.annotations['absent']", ''],
    ['spec.nodeName', 'node-1'],
    ['spec.serviceAccountName', 'robot'],
    ['status.podIP', '127.41.1.7'],
    ['status.hostIP', '127.41.0.1'],
  ])('%s is %j', (path, value) => {
    expect(environmentOf(field(path))).toEqual({ X: value });
  });

  test('an unknown field is refused in words', () => {
    expect(() => environmentOf(field('spec.secret'))).toThrow('unsupported fieldPath: spec.secret');
  });
});

describe('variables from elsewhere', () => {
  test('a key of a ConfigMap and of a Secret', () => {
    const env = [
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'conf', key: 'a' } } },
      { name: 'P', valueFrom: { secretKeyRef: { name: 'keys', key: 'password' } } },
    ];
    expect(environmentOf({ env })).toEqual({ A: '1', P: 's3cret' });
  });

  test('all keys, with a prefix, and overridden by a variable of the container', () => {
    const envFrom = [{ prefix: 'C_', configMapRef: { name: 'conf' } }, { secretRef: { name: 'keys' } }];
    expect(environmentOf({ envFrom, env: [{ name: 'C_a', value: 'mine' }] })).toEqual({
      C_a: 'mine',
      C_b: '2',
      password: 's3cret',
    });
  });

  test.each([
    [
      { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'none', key: 'a' } } }] },
      'configmap "none" not found',
    ],
    [
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'none', key: 'a' } } }] },
      'secret "none" not found',
    ],
    [
      { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'conf', key: 'z' } } }] },
      "couldn't find key z in ConfigMap default/conf",
    ],
    [{ envFrom: [{ secretRef: { name: 'none' } }] }, 'secret "none" not found'],
  ] satisfies [Partial<Container>, string][])('what is missing is named: %j', (more, message) => {
    expect(() => environmentOf(more)).toThrow(message);
  });

  test('what is missing but optional is left out', () => {
    const env = [
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'none', key: 'a', optional: true } } },
      { name: 'B', valueFrom: { configMapKeyRef: { name: 'conf', key: 'z', optional: true } } },
    ];
    expect(environmentOf({ env, envFrom: [{ configMapRef: { name: 'none', optional: true } }] })).toEqual({});
  });

  test('limits are in units of the divisor, and what the node has where none is set', () => {
    const ref = (resource: string, divisor?: string) => ({
      name: resource,
      valueFrom: { resourceFieldRef: divisor === undefined ? { resource } : { resource, divisor } },
    });
    const resources = { limits: { memory: '64Mi', cpu: '250m' } };
    const env = [ref('limits.memory', '1Mi'), ref('limits.cpu'), ref('requests.cpu', '1m')];
    expect(environmentOf({ resources, env })).toEqual({
      'limits.memory': '64',
      'limits.cpu': '1',
      'requests.cpu': '250',
    });
    expect(environmentOf({ env: [ref('limits.cpu')] })).toEqual({ 'limits.cpu': '8' });
  });
});

describe('expansion', () => {
  const variables = new Map([
    ['A', 'x'],
    ['B', '$(A)'],
  ]);

  test.each([
    ['$(A)', 'x'],
    ['a-$(A)-$(A)', 'a-x-x'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$x'],
    ['$(B)', '$(A)'],
    ['$(NONE)', '$(NONE)'],
    ['$A $', '$A $'],
    ['$(', '$('],
  ])('%s becomes %s', (text, expected) => {
    expect(expand(text, variables)).toBe(expected);
  });

  test('a variable may use those before it, not those after it', () => {
    const env = [
      { name: 'A', value: '$(B)' },
      { name: 'B', value: '1' },
      { name: 'C', value: '$(B)2' },
    ];
    expect(environmentOf({ env })).toEqual({ A: '$(B)', B: '1', C: '12' });
  });
});

describe('quantities', () => {
  test.each([
    ['1', 1],
    ['250m', 0.25],
    ['64Mi', 67_108_864],
    ['1.5G', 1_500_000_000],
    ['1e3', 1_000],
    [2, 2],
  ])('%s is %d', (text, value) => {
    expect(numberOf(text)).toBe(value);
  });

  test('rounds up, and not by a rounding error', () => {
    expect(divideQuantity('100m', '1m')).toBe('100');
    expect(divideQuantity('1500m', '1')).toBe('2');
  });

  test('refuses what is none', () => {
    expect(() => numberOf('12Xi')).toThrow('12Xi is not a quantity');
  });
});
