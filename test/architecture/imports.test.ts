import { describe, expect, test } from 'vitest';
import { checkImports } from './import-rules.ts';
import { scanImports } from './import-scan.ts';
import { asLines, readTree, typescriptOf } from './source-tree.ts';

const check = (...files: readonly (readonly [path: string, text: string])[]): readonly string[] =>
  asLines(checkImports(files.flatMap(([path, text]) => scanImports({ path, text }))));

test('imports go one way', () => {
  const files = typescriptOf(readTree());
  expect(asLines(checkImports(files.flatMap((file) => scanImports(file))))).toEqual([]);
});

describe('the scan finds', () => {
  const kinds = (text: string): readonly string[] =>
    scanImports({ path: 'worker/a.ts', text }).map(
      (one) => `${one.line} ${one.kind} ${one.target}${one.typeOnly ? ' type' : ''}`,
    );

  test.each([
    ["import { a } from './b.ts';", '1 file worker/b.ts'],
    ["import type { A } from '../starter/b.ts';", '1 file starter/b.ts type'],
    ["import { type A } from './b.ts';", '1 file worker/b.ts'],
    ["import {\n  a,\n} from '@temporalio/client/lib/x';", '3 package @temporalio/client'],
    ["import * as fs from 'node:fs';", '1 builtin node:fs'],
    ["import './b.ts';", '1 file worker/b.ts'],
    ["export * from './b.ts';", '1 file worker/b.ts'],
    ["export type { A } from './b.ts';", '1 file worker/b.ts type'],
    ["const load = () => import('./b.ts');", '1 file worker/b.ts'],
    ["let a: import('./b.ts').A;", '1 file worker/b.ts type'],
  ])('%j', (text, found) => {
    expect(kinds(text)).toEqual([found]);
  });

  test('nothing in ordinary text', () => {
    expect(kinds("export const a = 'b';\n// it is imported from 'there'\nconst from = 'c';")).toEqual([]);
  });
});

describe('the rules refuse', () => {
  const plan = ['workflows/lamp/domain/plan.ts', ''] as const;

  test.each([
    ['a package in a domain', plan[0], "import { z } from 'zod';"],
    ['a Node module in a domain', plan[0], "import { readFileSync } from 'node:fs';"],
    ['an entity in a domain', plan[0], "import { lamp } from '../entity.ts';"],
    ['a domain of another lifecycle', plan[0], "import type { Row } from '../../fan/domain/row.ts';"],
    ['a client in a workflow', 'workflows/lamp/entity.ts', "import { Redis } from 'iovalkey';"],
    ['a Node module in a workflow', 'workflows/lamp/entity.ts', "import { hash } from 'node:crypto';"],
    [
      'an activity that a workflow would run',
      'workflows/lamp/entity.ts',
      "import { KINDS } from '../../activities/kubernetes/contract.ts';",
    ],
    [
      'an activity beside its contract, even as a type',
      'workflows/lamp/entity.ts',
      "import type { Client } from '../../activities/kubernetes/client.ts';",
    ],
    [
      'code in an activity contract',
      'activities/kubernetes/contract.ts',
      "import { entityId } from '../../workflows/shared/plan.ts';",
    ],
    [
      'a domain that an activity would run',
      'activities/valkey/activities.ts',
      "import { planLamps } from '../../workflows/lamp/domain/plan.ts';",
    ],
    [
      'an entity in the starter',
      'starter/watches/lamp.ts',
      "import { lamp } from '../../workflows/lamp/entity.ts';",
    ],
    [
      'a domain in the starter',
      'starter/watches/lamp.ts',
      "import { plan } from '../../workflows/lamp/domain/plan.ts';",
    ],
    [
      'an activity in the command line',
      'starter/cli/commands/up.ts',
      "import { apply } from '../../../activities/kubernetes/activities.ts';",
    ],
    ['the starter in the worker', 'worker/main.ts', "import { main } from '../starter/main.ts';"],
    ['a worker in the stack', 'deploy/local/part.ts', "import { main } from '../../worker/main.ts';"],
    ['a test in what is tested', 'worker/main.ts', "import { fake } from '../test/simulation/fake.ts';"],
    ['a file that has no place', 'tools/a.ts', "import { main } from '../worker/main.ts';"],
  ])('%s', (_, path, text) => {
    expect(check([path, text])).toHaveLength(1);
  });

  test('a shared file that loads a package through another, in a domain', () => {
    const shared = [
      ['workflows/shared/loop.ts', "import { sleep } from '@temporalio/workflow';"],
      ['workflows/shared/turn.ts', "import { loop } from './loop.ts';"],
    ] as const;
    expect(check(...shared, [plan[0], "import { turn } from '../../shared/turn.ts';"])).toEqual([
      'workflows/lamp/domain/plan.ts:1: domain may import shared as types only (workflows/shared/turn.ts)',
    ]);
  });
});

describe('the rules allow', () => {
  test('a shared file that loads what runs on both sides, in an activity but not in a domain', () => {
    const failures = [
      'workflows/shared/failures.ts',
      "import { ApplicationFailure } from '@temporalio/common';",
    ] as const;
    const use = "import { failure } from '../../workflows/shared/failures.ts';";
    expect(check(failures, ['activities/ec2/errors.ts', use])).toEqual([]);
    expect(check(failures, ['workflows/lamp/domain/a.ts', use.replace('workflows/', '')])).toHaveLength(1);
  });

  test.each([
    ['a pure part in a domain', 'workflows/lamp/domain/plan.ts', "import { a } from '../../shared/plan.ts';"],
    [
      'an activity as a type in a workflow',
      'workflows/lamp/entity.ts',
      "import type { A } from '../../activities/kubernetes/contract.ts';",
    ],
    [
      'domain and stack in the command line',
      'starter/cli/commands/plan.ts',
      "import { a } from '../../../workflows/lamp/domain/plan.ts';\nimport { b } from '../../../deploy/local/up.ts';",
    ],
    [
      'both sides in the worker',
      'worker/main.ts',
      "import '../activities/ec2/client.ts';\nimport 'node:fs';",
    ],
  ])('%s', (_, path, text) => {
    expect(check([path, text])).toEqual([]);
  });
});
