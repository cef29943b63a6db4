import { beforeAll, describe, expect, test } from 'vitest';
import { openHome } from '../../../deploy/local/home.ts';
import { silentProgress } from '../../../deploy/local/progress.ts';
import { startStack } from '../../../deploy/local/start.ts';
import { readStatus } from '../../../deploy/local/status.ts';
import { useStack } from '../../../deploy/local/testing.ts';
import type { StackHandle } from '../../../deploy/local/testing.ts';
import { defaultParts } from '../../../deploy/local/settings.ts';

describe('every part', () => {
  let stack: StackHandle;

  beforeAll(async () => {
    stack = await useStack();
  });

  test.for(defaultParts())('%s comes back after it was killed, and "up" finds all well', async (name) => {
    const before = stack.part(name).process();
    const after = await stack.part(name).renew();
    expect(after).not.toEqual(before);
    const { signal } = new AbortController();
    await startStack({ homeDirectory: stack.home, progress: silentProgress, signal });
    expect(readStatus(openHome(stack.home)).healthy).toBe(true);
  });

  test('tells version, address, process, uptime and memory of each', () => {
    for (const part of readStatus(openHome(stack.home)).parts) {
      expect(part).toMatchObject({
        phase: 'ready',
        version: expect.stringMatching(/\d/),
        pid: expect.any(Number),
      });
      expect(part.memoryBytes).toBeGreaterThan(1e6);
      expect(part.uptimeSeconds).toBeGreaterThanOrEqual(0);
    }
  });
});
