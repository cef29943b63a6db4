import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StarterStage } from './starter-stage.ts';

let stage: StarterStage;
const WITHIN = { timeout: 60_000, interval: 100 };

beforeAll(async () => {
  stage = await StarterStage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe('of two replicas', () => {
  it('one leads, and the other takes over with all that happened meanwhile', async () => {
    const first = await stage.start({ identity: 'first' });
    await expect.poll(() => first.starter.leading, WITHIN).toBe(true);
    const second = await stage.start({ identity: 'second' });
    await stage.lamps.create('shared');
    await expect.poll(() => stage.generations('shared'), WITHIN).toEqual([1]);
    await expect.poll(() => second.starter.notReady(), WITHIN).toEqual([]);
    expect(second.starter.leading).toBe(false);
    expect(await stage.generations('shared')).toEqual([1]);

    await first.stop();
    await expect.poll(() => second.starter.leading, WITHIN).toBe(true);
    await stage.lamps.create('second-alone');
    await expect.poll(() => stage.generations('second-alone'), WITHIN).toEqual([1]);
    await second.stop();
  });

  it('the other takes over from one that vanished without giving the lease back', async () => {
    const lost = await stage.start({ identity: 'lost', leaseName: 'other-lease' });
    await expect.poll(() => lost.starter.leading, WITHIN).toBe(true);
    await stage.kubernetesWire.cut();
    await expect.poll(() => lost.starter.leading, WITHIN).toBe(false);
    await lost.stop();
    await stage.kubernetesWire.mend();
    const heir = await stage.start({ identity: 'heir', leaseName: 'other-lease' });
    expect(heir.starter.leading).toBe(false);
    await expect.poll(() => heir.starter.leading, WITHIN).toBe(true);
    await heir.stop();
  });
});
