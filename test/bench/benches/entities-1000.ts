import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { StackHandle } from '../../../deploy/local/testing.ts';
import { entityId, TASK_QUEUE } from '../../../workflows/shared/messages.ts';
import { startStackFor, type Afterwards } from '../../clean-end.ts';
import type { Bench } from '../bench.ts';
import { median, round, slopeOf } from '../figures.ts';
import { KIND, LIFECYCLE } from '../fixtures/contract.ts';
import { activitiesIn, eventsOf } from '../fixtures/histories.ts';
import { startIdleProcess, type IdleProcess } from '../fixtures/idle-process.ts';

/** Smaller numbers are for trying only. */
const SCALE = Number(process.env['KEELSON_BENCH_SCALE'] ?? 1);
const COUNTS = [0, 1_000, 2_000, 4_000].map((count) => Math.round(count * SCALE));
const AT_ONCE = 40;
/** The loop looks for drift every ten minutes and up to a fifth more, so eleven on the average. */
const DRIFT_TURNS_PER_HOUR = 3_600 / 660;
const TRIED_DRIFT_MS = 500;
const TRIED_TURNS = 6;

/** What one idle entity costs a worker in memory, over a bare idle workflow. */
export const entities1000: Bench = {
  name: 'entities-1000',
  about:
    'Memory of a worker for each idle entity that it keeps in its cache, as the slope over 0, 1,000, 2,000 and 4,000 of them in a fresh worker process, over the same slope of a bare idle workflow.',
  goal: 1.3,
  rounds: 5,
  unit: 'kilobytes each',
  async prepare(afterwards, interrupted) {
    const stack = await startStackFor(afterwards, { onlyParts: ['temporal'], signal: interrupted });
    const site = { stack, afterwards };
    const resyncs: number[] = [];
    return {
      ours: () =>
        inFreshWorker(site, async (client, worker) => {
          const slope = await measureSlope(worker, startOurs(client), ({ report }) => report);
          resyncs.push(await resync(client, worker));
          return slope;
        }),
      floor: () =>
        inFreshWorker(site, (client, worker) => measureSlope(worker, startBare(client), ({ bare }) => bare)),
      beside: async () => [
        [`a full resync of ${COUNTS.at(-1)} entities, median`, `${round(median(resyncs) / 1_000, 1)} s`],
        ...(await inFreshWorker(site, idleEvents)),
      ],
    };
  },
};

type Starts = (at: number) => Promise<unknown>;

const startOurs =
  (client: Client): Starts =>
  (at) =>
    client.workflow.start('benchThing', {
      workflowId: entityId(LIFECYCLE, refOf(at)),
      taskQueue: TASK_QUEUE,
      args: [{ ref: refOf(at) }],
    });

const startBare =
  (client: Client): Starts =>
  (at) =>
    client.workflow.start('bareEntity', { workflowId: `bare/${at}`, taskQueue: TASK_QUEUE });

const refOf = (at: number): { readonly namespace: string; readonly name: string } => ({
  namespace: 'bench',
  name: `idle-${at}`,
});

/** A process and a Temporal namespace of its own: what an earlier round left cannot wake in it. */
async function inFreshWorker<T>(
  { stack, afterwards }: { readonly stack: StackHandle; readonly afterwards: Afterwards },
  work: (client: Client, worker: IdleProcess) => Promise<T>,
): Promise<T> {
  const namespace = await stack.createTemporalNamespace('bench');
  const connection = await Connection.connect({ address: stack.temporalAddress });
  afterwards.defer(() => connection.close());
  const worker = await startIdleProcess(stack.temporalAddress, namespace);
  afterwards.defer(() => worker.stop());
  try {
    return await work(new Client({ connection, namespace }), worker);
  } finally {
    await worker.stop();
    await connection.close();
  }
}

/** Kilobytes for each one more; they are idle once their last activity is over. */
async function measureSlope(
  worker: IdleProcess,
  start: Starts,
  idle: (counts: Awaited<ReturnType<IdleProcess['ask']>>) => number,
): Promise<number> {
  const points: { readonly count: number; readonly value: number }[] = [];
  let started = 0;
  for (const count of COUNTS) {
    await inTurns(started, count, start);
    started = count;
    await worker.until((counts) => idle(counts) >= count);
    points.push({ count, value: (await worker.settledRss()) / 1_024 });
  }
  return slopeOf(points);
}

async function inTurns(from: number, to: number, work: Starts): Promise<void> {
  let next = from;
  const takeTurns = async (): Promise<void> => {
    while (next < to) {
      const at = next;
      next += 1;
      await work(at);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, takeTurns));
}

/** The milliseconds in which every entity is hinted and has looked again. */
async function resync(client: Client, worker: IdleProcess): Promise<number> {
  const all = COUNTS.at(-1) ?? 0;
  const { observe } = await worker.ask();
  const startedAtMs = performance.now();
  await inTurns(0, all, (at) =>
    client.workflow
      .getHandle(entityId(LIFECYCLE, refOf(at)))
      .signal('hint', { kind: KIND, uid: `bench/idle-${at}`, generation: 1 }),
  );
  await worker.until((counts) => counts.observe >= observe + all);
  return performance.now() - startedAtMs;
}

/** What an entity at rest adds to its history by looking for drift, counted on one that looks often. */
async function idleEvents(client: Client): Promise<readonly (readonly [string, string])[]> {
  const handle = await client.workflow.start('benchThing', {
    workflowId: entityId(LIFECYCLE, refOf(0)),
    taskQueue: TASK_QUEUE,
    args: [{ ref: refOf(0), tuning: { driftMs: TRIED_DRIFT_MS } }],
  });
  // One observation in each turn, and one status in the first.
  const turnsOf = async (): Promise<{ readonly turns: number; readonly events: number }> => {
    const events = await eventsOf(handle);
    return { turns: activitiesIn(events) - 1, events: events.length };
  };
  let first = await turnsOf();
  while (first.turns < 2) first = await turnsOf();
  let last = first;
  while (last.turns < first.turns + TRIED_TURNS) {
    await sleep(TRIED_DRIFT_MS);
    last = await turnsOf();
  }
  await handle.terminate('measured');
  const perTurn = (last.events - first.events) / (last.turns - first.turns);
  return [
    [
      'events of an idle entity',
      `${round(perTurn, 1)} for each look, ${round(perTurn * DRIFT_TURNS_PER_HOUR, 0)} an hour`,
    ],
  ];
}
