import { describe, expect, it } from 'vitest';
import { Stage } from '../conformance/core/stage.ts';
import type { EngineOptions } from './engine/engine.ts';
import { lampRow } from './lamp-row/lifecycle.ts';
import { simulatedWorkflows } from './lamp-row/simulated-workflows.ts';
import { simulatedTheatre, type SimulatedTheatre } from './simulated-theatre.ts';

const MINUTE_MS = 60_000;

function open(options: Partial<EngineOptions> = {}): { row: Stage; theatre: SimulatedTheatre } {
  const theatre = simulatedTheatre(options);
  return { row: new Stage(theatre, 'row'), theatre };
}

const observations = (theatre: SimulatedTheatre): number =>
  theatre.engine.journal.lines.filter((line) =>
    line.endsWith('observeLampRow attempt 1 of lamp-row/default/row'),
  ).length;

/** Sends hints that wake nobody until they have made the history too long. */
async function untilNextRun(row: Stage, theatre: SimulatedTheatre): Promise<void> {
  const first = theatre.engine.find(row.entity)?.number;
  while (theatre.engine.find(row.entity)?.number === first) {
    await theatre.hint(row.ref);
    await theatre.engine.until(() => false, 200);
  }
}

describe('hints', () => {
  it('are not lost when they come in during the observation that finds nothing', async () => {
    const { row, theatre } = open();
    const letGo = row.hold('observeLampRow');
    await theatre.hint(row.ref, { kind: 'LampRow', uid: 'uid-0001', generation: 1 });
    await row.untilCaught('observeLampRow');
    letGo();
    // The observation has been answered with nothing, and the row comes to be before the entity hears of it.
    await row.until('nothing was found', () => observations(theatre) === 1);
    await row.apply({ wanted: 1 });
    await row.untilLit(1);
  });

  it('of an earlier resource under the same name cost one operation at most', async () => {
    const { row, theatre } = open();
    const letGo = row.hold('awaitLampWarm');
    await row.apply({ wanted: 2 });
    await row.untilStep('light-up', 'AwaitWarm');
    await theatre.hint(row.ref, { kind: 'LampRow', uid: 'uid-0000', generation: 7 });
    await row.untilOutcome('light-up: superseded');
    await row.untilStep('light-up', 'AwaitWarm');
    await theatre.engine.until(() => false, MINUTE_MS);
    expect(await row.outcomes()).toEqual(['light-up: superseded']);
    letGo();
    await row.untilLit(2);
  });

  it('that bring nothing new do not end a back-off, and its end is kept to the millisecond', async () => {
    const { row, theatre } = open();
    row.fail('screwInLamp', 'GenerationMoved', 'moved', 4);
    await row.apply({ wanted: 1 });
    await row.untilWaiting('back-off');
    const { waiting } = await theatre.status(row.ref);
    const before = observations(theatre);
    for (let at = 0; at < 20; at += 1) {
      await theatre.hint(row.ref);
      await theatre.engine.until(() => false, 50);
    }
    expect(observations(theatre)).toBe(before);
    await row.until('it looks again', () => observations(theatre) > before);
    expect(theatre.engine.agenda.nowMs).toBeGreaterThanOrEqual(waiting?.untilMs ?? Infinity);
    await row.untilLit(1);
  });

  it('of a newer generation end a back-off', async () => {
    const { row, theatre } = open();
    row.fail('screwInLamp', 'GenerationMoved', 'moved', 4);
    await row.apply({ wanted: 1 });
    await row.untilWaiting('back-off');
    const { waiting } = await theatre.status(row.ref);
    await row.apply({ wanted: 2 });
    await row.until('it operates', async () => (await theatre.status(row.ref)).operation !== null);
    expect(theatre.engine.agenda.nowMs).toBeLessThan(waiting?.untilMs ?? 0);
  });
});

describe('the end of an operation', () => {
  it('is told once, by the entity, with what it sees then', async () => {
    const { row, theatre } = open();
    await row.apply({ wanted: 1 });
    await row.untilWaiting('drift');
    const said = theatre.world.state.writes.map(({ status }) => `${status.phase} ${status.reason}`);
    expect(said).toEqual(['Lighting OperationRunning', 'Warming OperationRunning', 'Lit Settled']);
  });

  it('is told even when the world cannot be seen after it', async () => {
    const { row } = open();
    const letGo = row.hold('awaitLampWarm');
    await row.apply({ wanted: 1 });
    await row.untilStep('light-up', 'AwaitWarm');
    row.fail('observeLampRow', 'KubernetesForbidden', 'no right to look', 1);
    letGo();
    await row.untilWaiting('back-off');
    expect(row.row?.status).toMatchObject({ phase: 'Lit', reason: 'OperationDone' });
    await row.untilLit(1);
  });

  it('is told by an operation that an older version of the entity began', async () => {
    const workflows = simulatedWorkflows();
    const { row, theatre } = open({
      workflows: {
        ...workflows,
        lampRowLightUp: (port, input) =>
          workflows['lampRowLightUp']?.(port, { ...(input as object), endToldBy: undefined }) ??
          Promise.reject(new Error('the example has no such workflow')),
      },
    });
    await row.apply({ wanted: 1 });
    await row.untilWaiting('drift');
    const said = theatre.world.state.writes.map(({ status }) => `${status.phase} ${status.reason}`);
    expect(said.slice(-2)).toEqual(['Lit OperationRunning', 'Lit Settled']);
  });
});

describe('a guard that changes', () => {
  const strict = lampRow.guards.filter(({ name }) => name === 'Sockets');
  const rest = lampRow.guards.filter(({ name }) => name !== 'Sockets');
  /** From now on a row may want more lamps than it has sockets; it gets as many as fit. */
  const lenient = (until: { readonly until?: string }) =>
    simulatedWorkflows({
      ...lampRow,
      guards: [...('until' in until ? strict.map((guard) => ({ ...guard, ...until })) : []), ...rest],
    });

  async function untilBlocked(): Promise<ReturnType<typeof open>> {
    const stage = open();
    await stage.row.apply({ wanted: 9 });
    await stage.row.untilWaiting('guard');
    await stage.theatre.engine.until(() => false, MINUTE_MS);
    return stage;
  }

  it('lets an entity that waits for it go on with the next look, when its row says until when it held', async () => {
    const { row, theatre } = await untilBlocked();
    await theatre.engine.deploy(lenient({ until: 'as-many-as-fit' }));
    await row.until('the lamps are in', () => row.row?.lamps.length === 8);
    // What was decided with and without it is replayed as it was.
    await theatre.engine.crash(1_000);
    await row.until('they are warm', async () => (await row.outcomes()).includes('light-up: done'));
  });

  it('leaves such an entity not knowing where it is, when its row is simply gone', async () => {
    const { theatre } = await untilBlocked();
    await expect(theatre.engine.deploy(lenient({}))).rejects.toThrow('does not replay');
  });
});

describe('waiting', () => {
  it('looks for drift again after ten minutes and a little, never twice the same', async () => {
    const { row, theatre } = open();
    await row.apply({ wanted: 1 });
    await row.untilWaiting('drift');
    const waits: number[] = [];
    for (let at = 0; at < 3; at += 1) {
      const before = observations(theatre);
      const startedAtMs = theatre.engine.agenda.nowMs;
      await row.until('it looks again', () => observations(theatre) > before);
      await row.untilWaiting('drift');
      waits.push(theatre.engine.agenda.nowMs - startedAtMs);
    }
    for (const wait of waits) {
      expect(wait).toBeGreaterThan(10 * MINUTE_MS);
      expect(wait).toBeLessThan(12.1 * MINUTE_MS);
    }
    expect(new Set(waits).size).toBe(3);
  });

  it('finds and mends drift that nobody told of', async () => {
    const { row, theatre } = open();
    await row.apply({ wanted: 2 });
    await row.untilLit(2);
    theatre.world.breakLamp(row.ref);
    await row.until('the lamp is back', () => row.row?.lamps.length === 2);
    await row.untilLit(2);
  });

  it('looks at a blocked plan less and less often', async () => {
    const { row, theatre } = open();
    await row.apply({ wanted: 9 });
    await row.untilWaiting('guard');
    await theatre.engine.until(() => false, 10 * MINUTE_MS);
    // 5, 10, 20, 40, 80 seconds, then two minutes each.
    expect(observations(theatre)).toBe(9);
    // The first write changes what the second look finds on the resource.
    expect(theatre.world.state.writes).toHaveLength(2);
  });

  it('goes on by itself when what it found wrong with the wish is put right', async () => {
    const missing = {
      code: 'DependencyMissing',
      class: 'validation',
      message: 'there is no Secret',
    } as const;
    const { row, theatre } = open({
      workflows: simulatedWorkflows({ ...lampRow, lost: (seen) => (seen.reader ? missing : null) }),
    });
    theatre.world.apply(row.ref, { wanted: 1, reader: true });
    await theatre.hint(row.ref);
    await row.untilWaiting('change');
    expect(row.row?.status).toMatchObject({
      phase: 'Failed',
      message: 'DependencyMissing: there is no Secret',
    });
    // Nobody tells of it.
    theatre.world.apply(row.ref, { reader: false });
    await row.untilLit(1);
  });

  it('says that it cannot see, and sees again', async () => {
    const { row, theatre } = open();
    row.fail('observeLampRow', 'KubernetesForbidden', 'no right to look', 2);
    await row.apply({ wanted: 1 });
    await row.untilWaiting('back-off');
    expect((await theatre.status(row.ref)).message).toBe(
      'cannot observe: KubernetesForbidden: no right to look',
    );
    await row.untilLit(1);
  });

  it('goes on when a status write that was forbidden is allowed again', async () => {
    const { row, theatre } = open();
    row.fail('reportLampRow', 'KubernetesForbidden', 'no right to write', 100);
    await row.apply({ wanted: 1 });
    await row.untilWaiting('drift');
    expect((await theatre.status(row.ref)).message).toContain('cannot write the status: KubernetesForbidden');
    row.failNoMore();
    await theatre.hint(row.ref);
    await row.untilLit(1);
  });
});

describe('the status', () => {
  it('is put right when a late attempt of an operation has written over it', async () => {
    const { row, theatre } = open();
    await row.apply({ wanted: 1 });
    await row.untilLit(1);
    const late = theatre.world.state.writes.find(({ by }) => by !== row.entity)?.status;
    theatre.world.change((state) => void Object.assign(state.rows['default/row'] ?? {}, { status: late }));
    expect(row.settledAt).toBeNull();
    await theatre.hint(row.ref);
    await row.untilLit(1);
  });

  it('is written once as long as nothing changes, and again now and then', async () => {
    const { row, theatre } = open();
    await row.apply({ wanted: 1 });
    await row.untilWaiting('drift');
    const count = (): number => theatre.world.state.writes.filter(({ by }) => by === row.entity).length;
    for (let at = 0; at < 20; at += 1) {
      await theatre.hint(row.ref);
      await theatre.engine.until(() => false, 5_000);
    }
    expect(count()).toBeLessThanOrEqual(2);
    await theatre.engine.until(() => false, 60 * MINUTE_MS);
    expect(count()).toBeGreaterThan(3);
    expect(count()).toBeLessThan(9);
  });
});

describe('continue-as-new', () => {
  it('carries a pause', async () => {
    const { row, theatre } = open({ longHistory: 12 });
    await row.apply({ wanted: 1 });
    await row.untilLit(1);
    await row.update('pause', { reason: 'holidays' });
    await row.apply({ wanted: 2 });
    await row.untilWaiting('pause');
    await untilNextRun(row, theatre);
    await row.untilWaiting('pause');
    expect((await theatre.status(row.ref)).paused).toEqual({ reason: 'holidays' });
    expect(row.row?.lamps).toHaveLength(1);
    await row.update('resume');
    await row.untilLit(2);
  });

  it('carries the end of a back-off', async () => {
    const { row, theatre } = open({ longHistory: 40 });
    row.fail('screwInLamp', 'GenerationMoved', 'moved', 7);
    await row.apply({ wanted: 1 });
    const untilMs = await row.untilSome('a long back-off has begun', async () => {
      const { waiting } = await theatre.status(row.ref);
      const leftMs = (waiting?.untilMs ?? 0) - theatre.engine.agenda.nowMs;
      return waiting?.on === 'back-off' && leftMs > 10_000 ? waiting.untilMs : null;
    });
    await untilNextRun(row, theatre);
    await row.untilWaiting('back-off');
    expect((await theatre.status(row.ref)).waiting?.untilMs).toBe(untilMs);
    await row.untilLit(1);
  });

  it('carries an approval, a failure and what was cancelled, and never happens while an operation runs', async () => {
    const { row, theatre } = open({ longHistory: 15 });
    await row.apply({ wanted: 2, approvals: true });
    await row.untilLit(2);
    await row.apply({ wanted: 1 });
    await row.untilWaiting('approval');
    await untilNextRun(row, theatre);
    await row.untilWaiting('approval');
    const plan = await theatre.plan(row.ref);
    await row.update('approve', { hash: plan?.hash, by: 'ada', reason: 'yes' });
    await row.untilLit(1);
    row.hold('awaitLampWarm');
    await row.apply({ wanted: 2 });
    await row.untilStep('light-up', 'AwaitWarm');
    await row.update('cancelOperation', { reason: 'enough' });
    await row.untilWaiting('cancelled');
    await untilNextRun(row, theatre);
    await row.untilWaiting('cancelled');
    expect(theatre.engine.journal.violations).toEqual([]);
  });

  it('also ends a wait that has no end of its own, before hints make its history too long', async () => {
    const { row, theatre } = open({ longHistory: 40 });
    row.fail('screwInLamp', 'KubernetesForbidden', 'no', 1);
    await row.apply({ wanted: 1 });
    await row.untilWaiting('change');
    await untilNextRun(row, theatre);
    await row.untilWaiting('change');
    expect(row.row?.status?.phase).toBe('Failed');
  });

  it('refuses what a later version remembered', async () => {
    const { row, theatre } = open();
    theatre.engine.start('lampRow', row.entity, { ref: row.ref, carried: { version: 2 } });
    await row.until('it is parked', () => theatre.engine.find(row.entity)?.defect != null);
    expect(theatre.engine.find(row.entity)?.defect?.message).toContain('version 2');
  });
});

describe('a defect', () => {
  const broken = {
    ...lampRow,
    plan: (): never => {
      throw new TypeError('cannot read lamps of undefined');
    },
  };

  it('is told on the resource, parks the entity, and a deployed fix goes on by itself', async () => {
    const { row, theatre } = open();
    await row.apply({ wanted: 1 });
    await row.untilLit(1);
    const { summary } = lampRow;
    const fragile: typeof summary = (seen, plan) => {
      if (seen.wanted === 2) throw new TypeError('cannot read lamps of undefined');
      return summary(seen, plan);
    };
    await theatre.engine.deploy(simulatedWorkflows({ ...lampRow, summary: fragile }));
    await row.apply({ wanted: 2 });
    await row.until('it is parked', () => theatre.engine.find(row.entity)?.defect != null);
    expect(row.row?.status).toMatchObject({
      reason: 'Defect',
      message: 'parked by a defect: cannot read lamps of undefined',
    });
    await theatre.engine.deploy(simulatedWorkflows());
    await row.untilLit(2);
  });

  it('that keeps it from planning at all parks it too', async () => {
    const { row, theatre } = open({ workflows: simulatedWorkflows(broken) });
    await row.apply({ wanted: 1 });
    await row.until('it is parked', () => theatre.engine.find(row.entity)?.defect != null);
    await theatre.engine.deploy(simulatedWorkflows());
    await row.untilLit(1);
  });
});
