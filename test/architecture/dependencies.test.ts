import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkProtobuf, checkTemporal } from './dependency-rules.ts';
import type { Lock } from './dependency-rules.ts';

const manifest: { dependencies: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'));
const lock: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));

const client = 'node_modules/@temporalio/client';
const good: Lock = {
  packages: { [client]: { version: '1.24.0' }, 'node_modules/protobufjs': { version: '8.8.1' } },
};

describe('Temporal', () => {
  test('has one exact version', () => {
    expect(checkTemporal(manifest.dependencies, lock)).toEqual([]);
  });

  test.each([
    ['a range', { '@temporalio/client': '^1.24.0' }, good],
    ['another version wanted', { '@temporalio/client': '1.23.0' }, good],
    [
      'another version installed',
      { '@temporalio/client': '1.24.0' },
      { packages: { ...good.packages, 'node_modules/@temporalio/worker': { version: '1.23.0' } } },
    ],
  ])('is refused with %s', (_, dependencies: Record<string, string>, installed: Lock) => {
    expect(checkTemporal(dependencies, installed)).not.toEqual([]);
  });
});

describe('protobufjs', () => {
  test('is the one that Temporal needs, once', () => {
    expect(checkProtobuf(lock)).toEqual([]);
  });

  test.each([
    ['an older one on top', { ...good.packages, 'node_modules/protobufjs': { version: '7.6.6' } }],
    ['none on top', { [client]: { version: '1.24.0' } }],
    [
      'a copy below Temporal',
      { ...good.packages, [`${client}/node_modules/protobufjs`]: { version: '8.8.1' } },
    ],
  ])('is refused with %s', (_, packages: Lock['packages']) => {
    expect(checkProtobuf({ packages })).toHaveLength(1);
  });
});
