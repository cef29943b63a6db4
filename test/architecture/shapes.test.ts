import { expect, test } from 'vitest';
import { checkShapes } from './shape-rules.ts';
import { asLines, readTree } from './source-tree.ts';

test('every lifecycle and every system has the same shape', () => {
  expect(asLines(checkShapes(readTree().map((file) => file.path)))).toEqual([]);
});

test('a lifecycle without entity, operations and README is told so', () => {
  const paths = ['workflows/index.ts', 'workflows/shared/plan.ts', 'workflows/lamp/domain/plan.ts'];
  expect(asLines(checkShapes([...paths, 'workflows/lamp/contract.ts']))).toEqual([
    'workflows/lamp: a lifecycle has README.md',
    'workflows/lamp: a lifecycle has entity.ts',
    'workflows/lamp: a lifecycle has operations/*.ts',
  ]);
});

test('a system without a client is told so', () => {
  const paths = ['contract', 'activities', 'errors'].map((name) => `activities/ec2/${name}.ts`);
  expect(asLines(checkShapes([...paths, 'activities/attempt.ts']))).toEqual([
    'activities/ec2: a system has client.ts',
  ]);
});

test('a lifecycle of which only the domain exists is left alone', () => {
  expect(checkShapes(['workflows/lamp/domain/plan.ts', 'workflows/lamp/README.md'])).toEqual([]);
});
