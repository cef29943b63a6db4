import { describe, expect, it } from 'vitest';
import type { Operation } from '../../workflows/shared/operation.ts';
import { failure } from '../../workflows/shared/failures.ts';
import { Stage } from '../conformance/core/stage.ts';
import type { LampRowTypes } from './lamp-row/contract.ts';
import { lampRow } from './lamp-row/lifecycle.ts';
import { lightUp } from './lamp-row/operations/light-up.ts';
import { simulatedWorkflows } from './lamp-row/simulated-workflows.ts';
import { simulatedTheatre, type SimulatedTheatre } from './simulated-theatre.ts';

function open(
  lighting: Partial<Operation<LampRowTypes>> = {},
  lifecycle: Partial<typeof lampRow> = {},
): { readonly row: Stage; readonly theatre: SimulatedTheatre } {
  const workflows = simulatedWorkflows({ ...lampRow, ...lifecycle }, { ...lightUp, ...lighting });
  const theatre = simulatedTheatre({ workflows });
  return { row: new Stage(theatre, 'row'), theatre };
}

describe('the steps of a group', () => {
  it('run side by side, unless they need the same part', async () => {
    const { row, theatre } = open({ parts: (step) => (step.kind === 'ScrewIn' ? ['the fuse'] : []) });
    const letGo = row.hold('screwInLamp');
    await row.apply({ wanted: 2 });
    const workflowId = await row.untilStep('light-up', 'ScrewIn');
    await theatre.engine.until(() => false, 10_000);
    const running = (await theatre.progress(workflowId)).steps.filter((step) => step.state === 'running');
    expect(running).toHaveLength(1);
    letGo();
    await row.untilLit(2);
  });

  it('never hold one part at the same time, however many wait for it', async () => {
    let held = 0;
    let most = 0;
    const { row } = open({
      parts: () => ['the fuse'],
      async run(run) {
        run.reached('LightingStarted');
        run.reached('LampsPlaced');
        const work = async (socket: number): Promise<void> => {
          held += 1;
          most = Math.max(most, held);
          await run.port.act('in').screwInLamp({ ref: run.ref, uid: run.served.uid, socket });
          held -= 1;
        };
        await run.perform({ ScrewIn: ({ socket }) => work(socket) });
        await run.perform({ AwaitWarm: ({ socket }) => work(socket) });
        run.reached('LampsWarm');
      },
    });
    await row.apply({ wanted: 6 });
    await row.until('they are in', () => row.row?.lamps.length === 6);
    await row.untilOutcome('light-up: done');
    expect(most).toBe(1);
  });

  it('that only wait are let go when one beside them fails, and the failure is told', async () => {
    const { row } = open();
    row.hold('awaitLampWarm');
    await row.apply({ wanted: 2 });
    const workflowId = await row.untilStep('light-up', 'AwaitWarm');
    await row.untilCaught('awaitLampWarm');
    // One of the two waits comes back with a failure, the other would wait for ever.
    row.fail('awaitLampWarm', 'KubernetesForbidden', 'no right to touch', 1);
    row.letGo('awaitLampWarm');
    row.theatre.world.change((state) => void (state.warmMs = 10 * 3_600_000));
    await row.untilWaiting('change');
    expect(row.row?.status?.message).toContain('KubernetesForbidden');
    const [end] = await row.ended();
    expect(end).toMatchObject({
      workflowId,
      status: 'failed',
      result: { outcome: 'failed', phase: 'Warming' },
    });
  });
});

describe('an operation', () => {
  it('goes on undoing when something cannot be undone, and then says what', async () => {
    const { row } = open();
    row.hold('awaitLampWarm');
    await row.apply({ wanted: 3 });
    await row.untilStep('light-up', 'AwaitWarm');
    row.fail('unscrewLamp', 'KubernetesForbidden', 'the lamp is stuck', 1);
    await row.update('cancelOperation', { reason: 'too bright' });
    await row.untilWaiting('change');
    expect(row.effects.filter((effect) => effect.startsWith('unscrew'))).toHaveLength(2);
    expect(row.row?.status).toMatchObject({
      phase: 'Failed',
      message: 'KubernetesForbidden: the lamp is stuck',
    });
  });

  it('that was cancelled is not taken up again, even when its undoing failed for a moment', async () => {
    const { row } = open();
    row.hold('awaitLampWarm');
    await row.apply({ wanted: 1 });
    await row.untilStep('light-up', 'AwaitWarm');
    row.fail('unscrewLamp', 'GenerationMoved', 'moved', 1);
    await row.update('cancelOperation', { reason: 'too bright' });
    await row.untilWaiting('cancelled');
  });

  it('is undone when a person cancels it after a newer generation had asked it to stop', async () => {
    const { row, theatre } = open();
    const letGo = row.hold('screwInLamp');
    await row.apply({ wanted: 4 });
    const workflowId = await row.untilStep('light-up', 'ScrewIn');
    await row.apply({ wanted: 3 });
    await row.until('it should stop', async () => (await theatre.progress(workflowId)).stopping !== null);
    await row.update('cancelOperation', { reason: 'none at all' });
    await row.until(
      'it should be undone',
      async () => (await theatre.progress(workflowId)).stopping === 'none at all',
    );
    letGo();
    await row.untilOutcome('light-up: cancelled');
    expect(row.effects.filter((effect) => effect.startsWith('unscrew'))).toHaveLength(2);
  });

  it('stops before what cannot be undone when the look before it shows a newer wish', async () => {
    const { row, theatre } = open();
    await row.apply({ wanted: 3 });
    await row.untilLit(3);
    const letGo = row.hold('discardLamp');
    await row.apply({ wanted: 1 });
    await row.untilCaught('discardLamp');
    // No hint comes of it.
    theatre.world.apply(row.ref, { wanted: 2 });
    letGo();
    await row.untilLit(2);
    expect(await row.outcomes()).toEqual(['light-up: done', 'dim: superseded']);
  });

  it('that leaves out a step, or breaks in any other way, ends with a defect that a person is told of', async () => {
    const { row } = open({
      async run(run) {
        run.reached('LightingStarted');
      },
    });
    await row.apply({ wanted: 1 });
    await row.untilWaiting('change');
    expect(row.row?.status).toMatchObject({
      phase: 'Failed',
      message: 'Defect: light-up met a defect: light-up left step 1 undone',
    });
  });

  it('that reaches what the table does not have fails, and says so', async () => {
    const { row } = open({
      async run(run) {
        run.reached('LampsPlaced');
      },
    });
    await row.apply({ wanted: 1 });
    await row.untilWaiting('change');
    expect(row.row?.status?.message).toBe('PhaseRefused: LampsPlaced does not lead anywhere from Dark');
  });

  it('that changes nothing is not repeated without end', async () => {
    const { row, theatre } = open({
      async run(run) {
        run.reached('LightingStarted');
        await run.perform({ ScrewIn: async () => {} });
        run.reached('LampsPlaced');
        await run.perform({ AwaitWarm: async () => {} });
        run.reached('LampsWarm');
      },
    });
    await row.apply({ wanted: 1 });
    await row.untilWaiting('back-off');
    expect(row.row?.status?.message).toBe(
      'NoProgress: light-up was carried out, and the same plan is needed again',
    );
    await theatre.engine.until(() => false, 3_600_000);
    expect((await row.ended()).length).toBeLessThan(30);
  });

  it('fails with words when what it throws has a name', async () => {
    const { row } = open({
      async run() {
        throw failure('DependencyMissing', 'there is no Secret lamps');
      },
    });
    await row.apply({ wanted: 1 });
    await row.untilWaiting('change');
    expect(row.row?.status?.message).toBe('DependencyMissing: there is no Secret lamps');
  });

  it('is done although the resource that it released took its last status with it', async () => {
    const { row } = open();
    await row.apply({ wanted: 1 });
    await row.untilLit(1);
    row.hold('reportLampRow');
    await row.delete();
    await row.until('the row is gone', () => row.row === null);
    row.letGo('reportLampRow');
    await row.untilGone();
    expect(await row.outcomes()).toEqual(['light-up: done', 'dismantle: done']);
  });

  it('ends when its resource is gone, which its status write is the first to notice', async () => {
    const { row, theatre } = open();
    const letGo = row.hold('screwInLamp');
    await row.apply({ wanted: 4 });
    await row.untilStep('light-up', 'ScrewIn');
    theatre.world.vanish(row.ref);
    letGo();
    await row.untilGone();
    expect(await row.outcomes()).toEqual(['light-up: failed']);
  });
});

describe('a lifecycle whose table has no row for a failure', () => {
  it('says so, and stays where it is', async () => {
    const { table } = lampRow;
    const { row } = open(
      {},
      {
        table: {
          ...table,
          specification: table.specification.filter((one) => one.event !== 'RowFailed'),
        },
      },
    );
    row.fail('screwInLamp', 'KubernetesForbidden', 'no', 1);
    await row.apply({ wanted: 1 });
    await row.untilWaiting('change');
    const said = row.theatre.world.state.writes.map(({ status }) => status.message);
    expect(said).toContain('KubernetesForbidden: no (RowFailed does not lead anywhere from Lighting)');
    await row.update('retry');
    await row.untilLit(1);
  });
});

describe('a worker that dies', () => {
  it('in the middle of a step repeats it, and the operation goes on where it was', async () => {
    const { row, theatre } = open();
    const letGo = row.hold('screwInLamp');
    await row.apply({ wanted: 2 });
    await row.untilCaught('screwInLamp');
    await theatre.engine.crash(3_000);
    letGo();
    await row.untilLit(2);
    expect(await row.outcomes()).toEqual(['light-up: done']);
    expect(theatre.engine.journal.lines.some((line) => line.includes('screwInLamp attempt 2'))).toBe(true);
  });

  it('at every moment of a whole life changes nothing of its outcome', async () => {
    const crashes = 120;
    const { row, theatre } = open();
    const live = async (): Promise<void> => {
      await row.apply({ wanted: 2 });
      await row.untilLit(2);
      await row.apply({ wanted: 1 });
      await row.untilLit(1);
      await row.delete();
      await row.untilGone();
    };
    for (let at = 0; at < crashes; at += 1) {
      theatre.engine.agenda.in(at * 37, () => theatre.engine.crash(20));
    }
    await live();
    expect((await row.outcomes()).filter((outcome) => !outcome.endsWith('done'))).toEqual([]);
  });
});
