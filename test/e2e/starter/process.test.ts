import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { StarterStage } from '../../conformance/starter/starter-stage.ts';
import { StarterProcess } from './starter-process.ts';

let stage: StarterStage;
const processes: StarterProcess[] = [];
const WITHIN = { timeout: 60_000, interval: 100 };

beforeAll(async () => {
  stage = await StarterStage.open();
});

afterEach(async () => {
  for (const one of processes.splice(0)) await one.end('SIGKILL');
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

async function spawn(identity: string): Promise<StarterProcess> {
  const one = await StarterProcess.spawn({ namespace: stage.lamps.namespace, identity });
  processes.push(one);
  await expect.poll(async () => (await one.ask('/readyz')).status, WITHIN).toBe(200);
  return one;
}

describe('the starter as a process', () => {
  it('becomes ready, counts what it does, and ends on SIGTERM with its lease given back', async () => {
    const one = await spawn('one');
    expect(await one.ask('/livez')).toMatchObject({ status: 200 });
    expect(await one.ask('/')).toMatchObject({ status: 404 });
    await stage.lamps.create('counted');
    await expect.poll(() => stage.generations('counted'), WITHIN).toEqual([1]);
    const { text } = await one.ask('/metrics');
    expect(text).toContain('keelson_starter_leader 1');
    expect(text).toMatch(/keelson_starter_hints_total{lifecycle="lamp",outcome="delivered"} [1-9]/);
    expect(await one.end('SIGTERM')).toBe(0);
    expect(one.log.at(-1)).toMatchObject({ msg: 'stopped' });
    const two = await spawn('two');
    await expect
      .poll(async () => (await two.ask('/metrics')).text, WITHIN)
      .toContain('keelson_starter_leader 1');
    expect(await two.end('SIGTERM')).toBe(0);
  });

  it('that is killed loses nothing: what was created and deleted meanwhile is told by the next one', async () => {
    const one = await spawn('killed');
    await stage.lamps.create('old');
    await expect.poll(() => stage.generations('old'), WITHIN).toEqual([1]);
    expect(await one.end('SIGKILL')).toBe('SIGKILL');
    await stage.lamps.create('young');
    await stage.lamps.delete('old');
    await spawn('next');
    await expect.poll(() => stage.generations('young'), WITHIN).toEqual([1]);
    await expect.poll(async () => (await stage.generations('old')).at(-1), WITHIN).toBe(2);
  });
});
