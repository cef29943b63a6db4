import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkPlatforms, selectMissing } from './lock-rules.ts';
import type { PlatformLock } from './lock-rules.ts';

test('the lock has the binaries of every platform', () => {
  const lock: PlatformLock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  expect(checkPlatforms(lock)).toEqual([]);
});

const needs = (...names: readonly string[]): PlatformLock['packages'][string] => ({
  version: '1.0.0',
  optionalDependencies: Object.fromEntries(names.map((name) => [name, '1.0.0'])),
});

test('a binary that is missing is named, with what tells its platform', () => {
  const packages = {
    '': needs(),
    'node_modules/tool': { ...needs('@tool/binding-linux-x64-musl', '@tool/darwin-arm64'), dev: true },
    'node_modules/@tool/darwin-arm64': { version: '1.0.0' },
  };
  expect(selectMissing({ packages })).toEqual({
    'node_modules/@tool/binding-linux-x64-musl': {
      version: '1.0.0',
      cpu: ['x64'],
      dev: true,
      libc: ['musl'],
      optional: true,
      os: ['linux'],
    },
  });
});

test('a binary is found beside the package that needs it, and above it', () => {
  const packages = {
    'node_modules/a': needs('own', 'top'),
    'node_modules/a/node_modules/own': { version: '1.0.0' },
    'node_modules/a/node_modules/@b/c': needs('own', 'top', 'none'),
    'node_modules/top': { version: '1.0.0' },
  };
  expect(checkPlatforms({ packages }).map((one) => one.at)).toEqual(['node_modules/none']);
});
