import { describe, expect, it } from 'vitest';
import { loadLifecycles } from '../../../starter/cli/lifecycles.ts';
import { selectSimilar } from '../../../starter/cli/similar-names.ts';
import { parseTarget } from '../../../starter/cli/target.ts';
import type { LifecycleWatch } from '../../../starter/watch-definition.ts';

const lamps: LifecycleWatch = {
  lifecycle: 'lamp-row',
  workflowType: 'lampRow',
  primary: { group: 'test.dev', version: 'v1', plural: 'lamprows', kind: 'LampRow' },
  secondaries: [],
};

describe('the words that name a resource', () => {
  it.each([
    [['lamp-row/shop/hall'], undefined, 'lamp-row/shop/hall'],
    [['lamprow/hall'], 'shop', 'lamp-row/shop/hall'],
    [['LampRow', 'hall'], 'shop', 'lamp-row/shop/hall'],
    [['lamprows', 'hall'], undefined, 'lamp-row/default/hall'],
    [['lamprows.test.dev', 'hall'], undefined, 'lamp-row/default/hall'],
    [['lamp-row', 'shop', 'hall'], undefined, 'lamp-row/shop/hall'],
    [['lamp-row/shop/hall'], 'shop', 'lamp-row/shop/hall'],
  ])('%j in namespace %s are %s', (words, namespace, id) => {
    expect(parseTarget(words, namespace, [lamps]).workflowId).toBe(id);
  });

  it.each([
    [['hall'], undefined, '"hall" does not name a resource'],
    [['lamp-row/shop/hall/create'], undefined, 'does not name a resource'],
    [['teapot', 'hall'], undefined, 'there is no lifecycle or kind "teapot"'],
    [['lamprow', 'A_b'], undefined, '"A_b" cannot be the name of anything in Kubernetes'],
    [['lamprow', '-x'], undefined, 'cannot be the name of anything'],
    [['lamprow', 'x'.repeat(254)], undefined, 'cannot be the name of anything'],
    [['lamp-row/shop/hall'], 'home', 'is in namespace shop, and -n says home'],
  ])('%j in namespace %s are refused: %s', (words, namespace, message) => {
    expect(() => parseTarget(words, namespace, [lamps])).toThrow(message);
  });
});

describe('every lifecycle', () => {
  it.each([
    ['valkey-cluster/default/cache', 'valkeyCluster'],
    ['spot-agent/cl-1/ag-2', 'spotAgent'],
  ])('has entities that a command can name: %s', async (word, workflowType) => {
    const target = parseTarget([word], undefined, await loadLifecycles());
    expect(target).toMatchObject({ workflowId: word, workflowType });
  });
});

describe('names that may have been meant', () => {
  it('are the nearest ones, and those that hold what was typed', () => {
    const names = ['lamp/a/hall', 'lamp/a/hull', 'lamp/b/hall', 'lamp/a/kitchen', 'lamp/a/great-hall'];
    expect(selectSimilar('lamp/a/hal', names)).toEqual([
      'lamp/a/hall',
      'lamp/a/hull',
      'lamp/b/hall',
      'lamp/a/great-hall',
    ]);
    expect(selectSimilar('lamp/a/zzzzzzzz', ['lamp/a/hall'])).toEqual([]);
  });
});
