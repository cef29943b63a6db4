import { describe, expect, it } from 'vitest';
import { failure } from '../../../workflows/shared/failures.ts';
import { runPlan } from '../../../workflows/shared/planning.ts';
import type { Port } from '../../../workflows/shared/port.ts';
import type { LampRowActivities, LampRowTypes } from '../../simulation/lamp-row/contract.ts';
import { lampRow } from '../../simulation/lamp-row/lifecycle.ts';

const ref = { namespace: 'default', name: 'row' };
const row = {} as LampRowTypes['observed'];
// Nothing reaches the port: the look at the world is given.
const port = {} as Port<LampRowActivities>;

const plan = (wish: () => never): Promise<unknown> =>
  runPlan(port, { ...lampRow, observe: async () => row }, { ref }, wish);

describe('a dry run', () => {
  it('fails in words where something in its wish cannot be read, and does not wait for another worker', async () => {
    const failed = plan(() => {
      throw new TypeError("Cannot read properties of undefined (reading 'name')");
    });
    await expect(failed).rejects.toMatchObject({
      type: 'InvalidInput',
      message: "no plan can be made of this: Cannot read properties of undefined (reading 'name')",
    });
  });

  it('hands on what has a name already', async () => {
    const failed = plan(() => {
      throw failure('ResourceInvalid', 'spec.wanted is -1');
    });
    await expect(failed).rejects.toMatchObject({ type: 'ResourceInvalid', message: 'spec.wanted is -1' });
  });

  it('says so when there is nothing to plan for', async () => {
    const nothing = runPlan(port, { ...lampRow, observe: async () => null }, { ref }, (seen) => seen);
    await expect(nothing).rejects.toMatchObject({ type: 'ResourceGone' });
  });
});
