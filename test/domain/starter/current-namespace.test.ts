import { describe, expect, it } from 'vitest';
import { selectNamespace } from '../../../starter/cli/current-namespace.ts';

const context = (name: string, namespace?: string): object => ({
  name,
  context: { cluster: 'c', user: 'u', ...(namespace === undefined ? {} : { namespace }) },
});

describe('the namespace without -n', () => {
  it.each([
    ['no kubeconfig', [], 'default'],
    ['an empty file', [null], 'default'],
    ['a context without one', [{ 'current-context': 'a', contexts: [context('a')] }], 'default'],
    ['an empty one', [{ 'current-context': 'a', contexts: [context('a', '')] }], 'default'],
    [
      'the current context',
      [{ 'current-context': 'b', contexts: [context('a', 'x'), context('b', 'shop')] }],
      'shop',
    ],
    ['a context that is not there', [{ 'current-context': 'z', contexts: [context('a', 'x')] }], 'default'],
    ['no current context', [{ contexts: [context('a', 'x')] }], 'default'],
    [
      'several files, of which the first to say it wins',
      [
        { contexts: [context('b', 'first')] },
        { 'current-context': 'b', contexts: [context('b', 'second')] },
        { 'current-context': 'c', contexts: [context('c', 'third')] },
      ],
      'first',
    ],
  ])('with %s is %s', (_, configs, namespace) => {
    expect(selectNamespace(configs)).toBe(namespace);
  });
});
