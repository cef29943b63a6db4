import type { temporal } from '@temporalio/proto';
import { defaultPayloadConverter } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import * as messages from '../../../workflows/shared/messages.ts';
import { LampWorld, memoryStore } from '../../simulation/lamp-row/world.ts';
import { Stage } from './stage.ts';
import { TUNING, temporalTheatre, type TemporalTheatre } from './temporal-theatre.ts';
import { startLampWorker, type LampWorker } from './temporal-worker.ts';

let theatre: TemporalTheatre;
let worker: LampWorker;

beforeAll(async () => {
  const stack = await useStack();
  const server = { address: stack.temporalAddress, namespace: await stack.createTemporalNamespace('look') };
  const store = memoryStore();
  worker = await startLampWorker(server, new LampWorld(store));
  theatre = await temporalTheatre(server, store, () => worker.stop());
});
afterAll(() => theatre.close());

type Metadata = temporal.api.sdk.v1.IWorkflowMetadata;

/** What the Web UI shows at the top of a run's page. */
async function readDetails(workflowId: string): Promise<string> {
  const handle = theatre.client.workflow.getHandle(workflowId);
  const { currentDetails } = await handle.query<Metadata>('__temporal_workflow_metadata');
  return currentDetails ?? '';
}

/** The summaries on the activities and timers of a run. */
async function readSummaries(workflowId: string): Promise<readonly string[]> {
  const { events } = await theatre.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(({ userMetadata }) =>
    userMetadata?.summary == null ? [] : [defaultPayloadConverter.fromPayload<string>(userMetadata.summary)],
  );
}

describe('a person who opens the Web UI', () => {
  it('reads in the name of an operation what it does, and on its page the plan with ticks', async () => {
    const row = new Stage(theatre, 'ticks');
    row.hold('awaitLampWarm');
    await row.apply({ wanted: 1 });
    const workflowId = await row.untilStep('light-up', 'AwaitWarm');
    const described = await theatre.client.workflow.getHandle(workflowId).describe();
    expect(await described.staticSummary()).toBe('light-up: 0 → 1 lamps');
    const lines = (await readDetails(workflowId)).split('\n').filter((line) => line !== '');
    expect(lines.map((line) => line.trim().replace(/[\d.]+ s\)$/, '… s)'))).toEqual([
      '**light-up (Warming)**',
      '✓ 1 ScrewIn: 0 of 1 lamps are in their sockets (… s)',
      '▶ 2 AwaitWarm: a cold lamp gives no light',
    ]);
    expect(await readDetails(row.entity)).toContain(`workflow \`${workflowId}\``);
    row.letGo('awaitLampWarm');
    await row.untilLit(1);
    expect(await readSummaries(workflowId)).toEqual(
      expect.arrayContaining([
        '1 ScrewIn: 0 of 1 lamps are in their sockets',
        '2 AwaitWarm: a cold lamp gives no light',
        'status: Warming',
      ]),
    );
    // The entity looks once more before it rests, so its timer may come a moment after the lamps are lit.
    await row.until('the entity rests', async () => {
      const summaries = await readSummaries(row.entity);
      return ['what is there', 'drift: as desired; looks again for drift'].every((each) =>
        summaries.includes(each),
      );
    });
  });

  it('finds entities and operations by what they are about', async () => {
    const row = new Stage(theatre, 'found');
    await row.apply({ wanted: 1 });
    await row.untilLit(1);
    const { kind, namespace, name, phase, operation } = messages.SEARCH_ATTRIBUTES;
    const find = async (query: string): Promise<readonly string[]> => {
      const found: string[] = [];
      for await (const { workflowId } of theatre.client.workflow.list({ query })) found.push(workflowId);
      return found;
    };
    const of = `${kind} = "LampRow" AND ${namespace} = "default" AND ${name} = "found"`;
    await row.until('the entity is found by its phase', async () =>
      (await find(`${of} AND ${phase} = "Lit" AND ${operation} IS NULL`)).includes(row.entity),
    );
    const operations = await find(`${of} AND ${operation} = "light-up" AND WorkflowType = "lampRowLightUp"`);
    expect(operations).toHaveLength(1);
  });
});

describe('the worker', () => {
  it('counts operations, steps, waits and refusals of guards', async () => {
    const row = new Stage(theatre, 'counted');
    await row.apply({ wanted: 2, sockets: 1 });
    await row.untilStatus('Blocked');
    await row.apply({ sockets: 2 });
    await row.untilLit(2);
    await row.until('all is counted', () =>
      ['light-up done', 'ScrewIn done', 'AwaitWarm done', 'Sockets blocked', 'guard waited'].every((one) =>
        worker.measured.includes(one),
      ),
    );
  });
});

describe('a dry run', () => {
  it('gives the plan for the resource, or for another wish, and writes nothing', async () => {
    const row = new Stage(theatre, 'dry');
    theatre.world.apply(row.ref, { wanted: 1 });
    const plan = (input: object): Promise<unknown> =>
      theatre.execute('lampRowPlan', `plan-${Math.random()}`, input);
    expect(await plan({ ref: row.ref })).toMatchObject({
      lifecycle: 'lamp-row',
      resource: 'default/dry',
      operation: 'light-up',
      blocked: [],
    });
    expect(await plan({ ref: row.ref, wanted: 9 })).toMatchObject({
      blocked: [{ step: null, guard: 'Sockets', message: 'wants 9 lamps but has 8 sockets' }],
    });
    expect(row.effects).toEqual([]);
    expect(row.row?.status).toBeNull();
    await expect(plan({ ref: { namespace: 'default', name: 'none' } })).rejects.toThrow(
      'there is no LampRow default/none',
    );
    await expect(plan({})).rejects.toThrow('the input must be');
  });
});

describe('continue-as-new', () => {
  it('loses no update and no hint, however often it happens', async () => {
    const row = new Stage(theatre, 'renewed');
    theatre.world.apply(row.ref, { wanted: 1 });
    await theatre.client.workflow.start('lampRow', {
      workflowId: row.entity,
      taskQueue: messages.TASK_QUEUE,
      args: [{ ref: row.ref, tuning: { ...TUNING, longHistory: 30 } }],
    });
    await row.untilLit(1);
    const first = (await theatre.client.workflow.getHandle(row.entity).describe()).runId;
    for (let at = 0; at < 12; at += 1) {
      const reason = `pause ${at}`;
      expect(await row.update('pause', { reason })).toContain('paused');
      expect((await theatre.status(row.ref)).paused).toEqual({ reason });
      await row.update('resume');
    }
    expect((await theatre.status(row.ref)).paused).toBeNull();
    await row.apply({ wanted: 2 });
    await row.untilLit(2);
    expect((await theatre.client.workflow.getHandle(row.entity).describe()).runId).not.toBe(first);
  });
});
