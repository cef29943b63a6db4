import { describe, expect, it } from 'vitest';
import { readConfiguration } from '../../../starter/configuration.ts';
import { buildFinalizerPatch } from '../../../starter/finalizer.ts';
import { KubernetesRefusal, refusalOf } from '../../../starter/kubernetes-refusal.ts';
import { loadWatches } from '../../../starter/load-watches.ts';
import { refuseObject } from '../../../starter/object-check.ts';
import { entityOf } from '../../../starter/parked-workflows.ts';
import { classifyDelivery } from '../../../starter/temporal-errors.ts';
import { FINALIZER, apiVersionOf, resourcePath } from '../../../starter/watch-definition.ts';
import type { LifecycleWatch } from '../../../starter/watch-definition.ts';

const LAMPS = { group: 'g', version: 'v1', plural: 'lamps', kind: 'Lamp' };
const watch: LifecycleWatch = { lifecycle: 'lamp', workflowType: 'lamp', primary: LAMPS, secondaries: [] };

describe('a path of the API server', () => {
  it.each([
    [resourcePath(LAMPS), '/apis/g/v1/lamps'],
    [resourcePath({ ...LAMPS, group: '' }, { namespace: 'a' }), '/api/v1/namespaces/a/lamps'],
    [
      resourcePath(LAMPS, { namespace: 'a', name: 'b', subresource: 'status' }),
      '/apis/g/v1/namespaces/a/lamps/b/status',
    ],
    [resourcePath(LAMPS, { namespace: 'a', name: '../c' }), '/apis/g/v1/namespaces/a/lamps/..%2Fc'],
  ])('%s', (path, expected) => {
    expect(path).toBe(expected);
  });

  it('goes with an apiVersion', () => {
    expect([apiVersionOf(LAMPS), apiVersionOf({ group: '', version: 'v1' })]).toEqual(['g/v1', 'v1']);
  });
});

describe('the finalizer', () => {
  it('is added to exactly one version of exactly one object', () => {
    const tests = [
      { op: 'test', path: '/metadata/uid', value: 'u' },
      { op: 'test', path: '/metadata/resourceVersion', value: '7' },
    ];
    expect(buildFinalizerPatch('u', '7', false)).toEqual([
      ...tests,
      { op: 'add', path: '/metadata/finalizers', value: [FINALIZER] },
    ]);
    expect(buildFinalizerPatch('u', '7', true)).toEqual([
      ...tests,
      { op: 'add', path: '/metadata/finalizers/-', value: FINALIZER },
    ]);
  });
});

describe('an object that is checked', () => {
  const owner = (name: string) => () => ({ namespace: 'default', name });

  it('is accepted, or refused with what to change', () => {
    expect(refuseObject(watch, {}, owner('hall'))).toBeNull();
    expect(refuseObject(watch, {}, owner('x'.repeat(250)))).toContain('Choose a shorter name');
    expect(refuseObject(watch, {}, () => null)).toContain('It does not name the Lamp that it is for');
    const refusing = { ...watch, refuse: (): string => 'too dark' };
    expect(refuseObject(refusing, {}, owner('hall'))).toBe('too dark');
  });

  it('is refused, not crashed upon, when it cannot even be read', () => {
    const throwing = {
      ...watch,
      refuse: (): string => {
        throw new Error('spec.bulbs is no list');
      },
    };
    expect(refuseObject(throwing, {}, owner('hall'))).toBe('It could not be read (spec.bulbs is no list).');
  });
});

describe('a delivery that failed', () => {
  const grpc = (code: number): Error => Object.assign(new Error('x'), { code, details: '', metadata: {} });

  it.each([
    ['Temporal is not reachable', grpc(14), 'away'],
    ['Temporal does not answer in time', grpc(4), 'away'],
    ['Temporal is overloaded', grpc(8), 'away'],
    ['something unknown happened', new Error('socket hang up'), 'away'],
    ['the search attributes are not registered', grpc(3), 'refused'],
    ['the namespace is not there', grpc(5), 'refused'],
    ['nobody may do that', grpc(7), 'refused'],
    ['the API server is down', new KubernetesRefusal(503, '', 'x'), 'away'],
    ['the API server is overloaded', new KubernetesRefusal(429, '', 'x'), 'away'],
    ['the starter lacks a right', new KubernetesRefusal(403, 'Forbidden', 'x'), 'refused'],
  ] as const)('because %s', (_, error, expected) => {
    expect(classifyDelivery(error)).toBe(expected);
  });
});

describe('a refusal of the API server', () => {
  it('is read from a Status, or from whatever a proxy answered', () => {
    expect(refusalOf(409, { reason: 'Conflict', message: 'no' })).toMatchObject({
      status: 409,
      reason: 'Conflict',
      message: 'no',
    });
    expect(refusalOf(502, '<html>').message).toBe('HTTP 502: <html>');
    expect(refusalOf(500, {}).message).toBe('HTTP 500');
  });
});

describe('a workflow id', () => {
  it('names the resource, also that of an operation', () => {
    const entity = { lifecycle: 'lamp', namespace: 'a', name: 'b' };
    expect(entityOf('lamp/a/b')).toEqual(entity);
    expect(entityOf('lamp/a/b/create/12345678-1.1')).toEqual(entity);
    expect(entityOf('somebody-elses')).toBeNull();
  });
});

describe('the configuration', () => {
  it('has defaults, and is refused with the name of the variable that is wrong', () => {
    expect(readConfiguration({ KEELSON_IDENTITY: 'me' })).toEqual({
      port: 9465,
      host: '0.0.0.0',
      lease: { namespace: 'default', name: 'keelson-starter', identity: 'me' },
      logLevel: 'info',
    });
    expect(() => readConfiguration({ KEELSON_STARTER_PORT: 'many' })).toThrow(
      'KEELSON_STARTER_PORT is wrong',
    );
  });

  it('takes the pod that it runs in, with an identity that no other process has', () => {
    const read = () => readConfiguration({ POD_NAME: 'starter-0', POD_NAMESPACE: 'system' }).lease;
    expect(read()).toMatchObject({ namespace: 'system' });
    expect(read().identity).toMatch(/^starter-0-/);
    expect(read().identity).not.toBe(read().identity);
  });
});

describe('every file of watches/', () => {
  it('declares one lifecycle, of its own name', async () => {
    const watches = await loadWatches();
    expect(watches.map((one) => one.lifecycle)).toContain('valkey-cluster');
    for (const one of watches) {
      expect(one.workflowType).toMatch(/^[a-z][A-Za-z]+$/);
      expect(one.primary.plural).toBe(one.primary.plural.toLowerCase());
    }
    expect(new Set(watches.map((one) => one.lifecycle)).size).toBe(watches.length);
  });
});
