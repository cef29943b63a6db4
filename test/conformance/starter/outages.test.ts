import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INFORMER_TIMES } from '../../../starter/informer.ts';
import type { Starter } from '../../../starter/starter.ts';
import { StarterStage } from './starter-stage.ts';

let stage: StarterStage;
let starter: Starter;
const WITHIN = { timeout: 60_000, interval: 100 };

beforeAll(async () => {
  stage = await StarterStage.open();
  ({ starter } = await stage.start());
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Proves that the starter has seen everything so far. */
async function settle(name: string): Promise<void> {
  await stage.lamps.create(name);
  await expect.poll(() => stage.generations(name), WITHIN).toEqual([1]);
}

async function counted(metric: string, what: string): Promise<number> {
  const text = await starter.metrics.registry.metrics();
  const lines = text.split('\n').filter((line) => line.startsWith(metric) && line.includes(what));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe('a watch that silently stops', () => {
  it('is noticed and opened anew, and nothing that happened meanwhile is missed', async () => {
    await settle('before-freeze');
    const stalledBefore = await counted('keelson_starter_watch_failures_total', 'what="stalled"');
    stage.kubernetesWire.freeze();
    await stage.lamps.create('during-freeze');
    await expect.poll(() => stage.generations('during-freeze'), WITHIN).toEqual([1]);
    const stalled = await counted('keelson_starter_watch_failures_total', 'what="stalled"');
    expect(stalled).toBeGreaterThan(stalledBefore);
  });

  it('is noticed within a minute with the times of service', () => {
    expect(INFORMER_TIMES.idleMs).toBeLessThan(60_000);
    expect(INFORMER_TIMES.watchMs).toBeLessThan(INFORMER_TIMES.idleMs);
  });
});

describe('while Temporal is away', () => {
  it('one hint for each resource waits, the newest, which says so, and all arrive when it is back', async () => {
    await settle('before-outage');
    await stage.temporalWire.cut();
    const names = Array.from({ length: 10 }, (_, at) => `outage-${at}`);
    for (const name of names) {
      await stage.lamps.create(name);
      await stage.lamps.merge(name, { spec: { colour: 'blue' } });
    }
    await expect
      .poll(() => counted('keelson_starter_hints_total', 'outcome="away"'), WITHIN)
      .toBeGreaterThan(0);
    await expect.poll(() => counted('keelson_starter_hints_pending', ''), WITHIN).toBe(names.length);
    for (const name of names)
      await expect
        .poll(() => stage.lamps.condition(name, 'Accepted'), WITHIN)
        .toMatchObject({ status: 'False', reason: 'EngineAway' });
    await stage.temporalWire.mend();
    for (const name of names) {
      await expect.poll(async () => (await stage.generations(name)).at(-1), WITHIN).toBe(2);
      await expect.poll(() => stage.lamps.condition(name, 'Accepted'), WITHIN).toBeNull();
    }
  });
});

describe('while the API server is away', () => {
  it('the starter waits patiently, stays alive, and catches up', async () => {
    await settle('before-cut');
    await stage.kubernetesWire.cut();
    await stage.lamps.create('during-cut');
    await stage.lamps.delete('before-cut');
    await expect.poll(() => starter.leading, WITHIN).toBe(false);
    expect(starter.notLive()).toEqual([]);
    await stage.kubernetesWire.mend();
    await expect.poll(() => stage.generations('during-cut'), WITHIN).toEqual([1]);
    await expect.poll(async () => (await stage.generations('before-cut')).at(-1), WITHIN).toBe(2);
  });
});

describe('an engine that refuses', () => {
  it('is named on the resource, and the report goes when the hint arrives', async () => {
    const wrong = await stage.start({ leaseName: 'wrong', temporalNamespace: 'nowhere' });
    await stage.lamps.create('refused');
    await expect
      .poll(() => stage.lamps.condition('refused', 'Accepted'), WITHIN)
      .toMatchObject({ status: 'False', reason: 'HintRefused' });
    expect(String((await stage.lamps.condition('refused', 'Accepted'))?.['message'])).toContain('nowhere');
    await wrong.stop();
    const right = await stage.start({ leaseName: 'right' });
    await expect.poll(() => stage.lamps.condition('refused', 'Accepted'), WITHIN).toBeNull();
    await right.stop();
  });
});
