import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fieldOf } from '../../../starter/object-field.ts';
import { FINALIZER } from '../../../starter/watch-definition.ts';
import { StarterStage } from './starter-stage.ts';

let stage: StarterStage;
let stop: () => Promise<void>;
const WITHIN = { timeout: 30_000, interval: 100 };

beforeAll(async () => {
  stage = await StarterStage.open();
  ({ stop } = await stage.start());
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe('a resource', () => {
  it('gets the finalizer and then an entity that is started with its reference and a hint', async () => {
    const { uid } = await stage.lamps.create('new');
    await expect.poll(() => stage.generations('new'), WITHIN).toEqual([1]);
    const [hint] = await stage.hints('new');
    expect(hint).toMatchObject({ kind: 'Lamp', uid, generation: 1 });
    expect(fieldOf(fieldOf(await stage.lamps.read('new'), 'metadata'), 'finalizers')).toEqual([FINALIZER]);
    const run = await stage.client.workflow.getHandle(stage.workflowId('new')).describe();
    expect(run.type).toBe('lamp');
    expect(run.searchAttributes).toMatchObject({ KeelsonKind: ['Lamp'], KeelsonName: ['new'] });
    const history = await stage.client.workflow.getHandle(stage.workflowId('new')).fetchHistory();
    const input = history.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
    expect(JSON.parse(Buffer.from(input ?? []).toString())).toEqual({
      ref: { namespace: stage.lamps.namespace, name: 'new' },
    });
  });

  it('is not hinted by status writes, but by a new label and by a new generation', async () => {
    await stage.lamps.create('quiet');
    await expect.poll(() => stage.generations('quiet'), WITHIN).toEqual([1]);
    for (let round = 0; round < 5; round += 1) await stage.lamps.mergeStatus('quiet', { round });
    await stage.lamps.merge('quiet', { metadata: { labels: { room: 'hall' } } });
    await expect.poll(() => stage.generations('quiet'), WITHIN).toEqual([1, 1]);
    await stage.lamps.mergeStatus('quiet', { round: 5 });
    await stage.lamps.merge('quiet', { spec: { colour: 'blue' } });
    await expect.poll(() => stage.generations('quiet'), WITHIN).toEqual([1, 1, 2]);
  });

  it('that changes in a burst is hinted at most once a second, and with its newest generation', async () => {
    await stage.lamps.create('burst');
    for (let change = 1; change <= 12; change += 1) await stage.lamps.merge('burst', { spec: { change } });
    await expect.poll(async () => (await stage.generations('burst')).at(-1), WITHIN).toBe(13);
    const times = (await stage.hints('burst')).map((hint) => hint.atMs);
    const gaps = times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(990);
  });

  it('is woken by its parts, held back while an operation runs, unless its generation changes', async () => {
    await stage.lamps.create('busy');
    await expect.poll(() => stage.generations('busy'), WITHIN).toEqual([1]);
    await stage.lamps.touchBulb('busy');
    await expect.poll(async () => (await stage.hints('busy')).at(-1)?.kind, WITHIN).toBe('ConfigMap');
    await stage.lamps.mergeStatus('busy', { currentOperation: 'glow' });
    await stage.lamps.touchBulb('busy', { wear: '1' });
    await stage.lamps.merge('busy', { spec: { colour: 'green' } });
    await expect.poll(() => stage.generations('busy'), WITHIN).toEqual([1, 2]);
    await stage.lamps.touchBulb('busy', { wear: '2' });
    await expect.poll(async () => (await stage.hints('busy')).length, WITHIN).toBe(4);
    const [newGeneration, held] = (await stage.hints('busy')).slice(-2);
    expect((held?.atMs ?? 0) - (newGeneration?.atMs ?? 0)).toBeGreaterThanOrEqual(5_900);
  });

  it('that is gone does not start an entity, nor do its leftover parts', async () => {
    await stage.lamps.create('ghost');
    await expect.poll(() => stage.generations('ghost'), WITHIN).toEqual([1]);
    await stage.client.workflow.getHandle(stage.workflowId('ghost')).terminate('a person ended it');
    await stage.lamps.deleteWithoutFinalizer('ghost');
    await stage.lamps.touchBulb('ghost');
    // A later resource of which the hint has arrived proves that the events before it were dealt with.
    await stage.lamps.create('after-ghost');
    await expect.poll(() => stage.generations('after-ghost'), WITHIN).toEqual([1]);
    const run = await stage.client.workflow.getHandle(stage.workflowId('ghost')).describe();
    expect(run.status.name).toBe('TERMINATED');
  });

  it('that a wish is for is told of it; a wish for nothing says so until there is something', async () => {
    await stage.lamps.createWish('brighter', 'wished');
    await expect
      .poll(() => stage.lamps.wishCondition('brighter'), WITHIN)
      .toMatchObject({ status: 'False', reason: 'Invalid' });
    expect(await stage.hints('wished')).toEqual([]);
    await stage.lamps.create('wished');
    await expect
      .poll(async () => (await stage.hints('wished')).map((one) => one.kind), WITHIN)
      .toContain('Lamp');
    await expect.poll(() => stage.lamps.wishCondition('brighter'), WITHIN).toBeNull();
    await stage.lamps.createWish('darker', 'wished');
    await expect.poll(async () => (await stage.hints('wished')).at(-1)?.kind, WITHIN).toBe('LampWish');
  });

  it('that its watch refuses gets a condition and an Event in words, and no entity, until it is corrected', async () => {
    await stage.lamps.create('invalid', { colour: 'infrared' });
    await expect
      .poll(() => stage.lamps.condition('invalid', 'Accepted'), WITHIN)
      .toMatchObject({
        status: 'False',
        reason: 'Invalid',
        message: 'spec.colour is infrared, which nobody can see: choose another colour.',
      });
    await expect.poll(() => stage.lamps.events('invalid'), WITHIN).toEqual(['Invalid']);
    expect(await stage.hints('invalid')).toEqual([]);
    await stage.lamps.merge('invalid', { spec: { colour: 'violet' } });
    await expect.poll(() => stage.generations('invalid'), WITHIN).toEqual([2]);
    await expect.poll(() => stage.lamps.condition('invalid', 'Accepted'), WITHIN).toBeNull();
  });

  it('with a name too long for a workflow id is told so', async () => {
    const name = 'very-'.repeat(38) + 'long';
    await stage.lamps.create(name);
    await expect
      .poll(async () => String((await stage.lamps.condition(name, 'Accepted'))?.['message']), WITHIN)
      .toContain('metadata.name is too long');
    expect(await stage.hints(name)).toEqual([]);
  });

  it('that was deleted while no starter ran is still there, and its entity is told', async () => {
    await stage.lamps.create('orphan');
    await expect.poll(() => stage.generations('orphan'), WITHIN).toEqual([1]);
    await stop();
    await stage.lamps.delete('orphan');
    await stage.client.workflow.getHandle(stage.workflowId('orphan')).terminate('it was lost too');
    await stage.start();
    await expect.poll(() => stage.generations('orphan'), WITHIN).toEqual([2]);
  });
});
