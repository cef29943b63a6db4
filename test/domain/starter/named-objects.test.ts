import { describe, expect, it } from 'vitest';
import type { Change } from '../../../starter/informer.ts';
import { changesFor, namesIn } from '../../../starter/named-objects.ts';
import type { Sighting } from '../../../starter/sighting.ts';
import { decideTrigger } from '../../../starter/trigger-decision.ts';
import { watch } from '../../../starter/watches/valkey-cluster.ts';

const sighting = (kind: string, namespace: string, name: string, digest = ''): Sighting => ({
  kind,
  namespace,
  name,
  uid: `uid-of-${name}`,
  generation: 0,
  deleting: false,
  finalizers: [],
  digest,
  operating: false,
  reported: [],
  owner: null,
  problem: null,
});

const cluster = (namespace: string, name: string, secret: string): Sighting => ({
  ...sighting('ValkeyCluster', namespace, name),
  names: namesIn(watch, { spec: { auth: { secretRef: { name: secret } } } }),
});

const CLUSTERS = [
  cluster('shop', 'cache', 'auth'),
  cluster('shop', 'carts', 'auth'),
  cluster('lab', 'x', 'auth'),
];

const changed = (namespace: string, name: string): Change<Sighting> => ({
  is: 'seen',
  now: sighting('Secret', namespace, name, 'new'),
  before: sighting('Secret', namespace, name, 'old'),
  resync: false,
});

describe('a Secret that changes', () => {
  it('wakes every cluster of its namespace that names it, and starts none', () => {
    const hints = changesFor(CLUSTERS, changed('shop', 'auth')).map((change) =>
      decideTrigger('part', change, () => 'there'),
    );
    expect(hints).toMatchObject([
      { is: 'hint', owner: { namespace: 'shop', name: 'cache' }, delivery: 'signal' },
      { is: 'hint', owner: { namespace: 'shop', name: 'carts' }, delivery: 'signal' },
    ]);
  });

  it('that nobody names concerns nobody', () => {
    expect(changesFor(CLUSTERS, changed('shop', 'other'))).toEqual([]);
  });

  it('and goes is told of too', () => {
    const gone = { is: 'gone', before: sighting('Secret', 'lab', 'auth') } as const;
    expect(changesFor(CLUSTERS, gone)).toMatchObject([{ is: 'gone', before: { owner: { name: 'x' } } }]);
  });
});
