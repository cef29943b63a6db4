import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { entityId, TASK_QUEUE, type OperationResult } from '../../../workflows/shared/messages.ts';
import type { OperationInput } from '../../../workflows/shared/operation.ts';
import { planned } from '../../../workflows/shared/planning.ts';
import { startStackFor } from '../../clean-end.ts';
import type { Bench } from '../bench.ts';
import { median, round, type Pair } from '../figures.ts';
import { LIFECYCLE, type ThingTypes } from '../fixtures/contract.ts';
import { activitiesIn, eventsOf, timeOf } from '../fixtures/histories.ts';
import { keyOf, startBenchWorker, type ThingWorld } from '../fixtures/in-process-worker.ts';
import { benchThing } from '../fixtures/lifecycle.ts';

const STEPS = 10;
const ENTITY_RUNS = 7;
const REF = { namespace: 'bench', name: 'steps' };

/** Ten steps that do nothing through the runner, over ten bare activities. */
export const stepOverhead: Bench = {
  name: 'step-overhead',
  about:
    '10 no-op steps through the runner, measured inside the operation, over a bare Temporal workflow of 10 no-op activities, measured inside it.',
  goal: 1.2,
  rounds: 20,
  async prepare(afterwards, interrupted) {
    const stack = await startStackFor(afterwards, { onlyParts: ['temporal'], signal: interrupted });
    const server = {
      address: stack.temporalAddress,
      namespace: await stack.createTemporalNamespace('bench'),
    };
    const world: ThingWorld = { steps: new Map(), began: () => {} };
    const worker = await startBenchWorker(server, world, { cachedWorkflows: 500 });
    afterwards.defer(() => worker.stop());
    const connection = await Connection.connect({ address: server.address });
    afterwards.defer(() => connection.close());
    const client = new Client({ connection, namespace: server.namespace });
    // The first run of each pays for what is compiled and connected once.
    await throughRunner(client);
    await bareSteps(client);
    return {
      ours: async () => (await throughRunner(client)).durationMs,
      floor: () => bareSteps(client),
      beside: (pairs) => besideIt(client, world, pairs),
    };
  },
};

const bareSteps = (client: Client): Promise<number> =>
  client.workflow.execute<(steps: number) => Promise<number>>('bareSteps', {
    workflowId: `bare/${randomUUID()}`,
    taskQueue: TASK_QUEUE,
    args: [STEPS],
  });

async function throughRunner(client: Client): Promise<OperationResult> {
  return (await (await startOperation(client)).result()) as OperationResult;
}

/** The operation alone, as an entity would start it. */
function startOperation(client: Client): Promise<WorkflowHandle> {
  const thing = { ref: REF, uid: keyOf(REF), generation: 1, steps: STEPS };
  const input: OperationInput<ThingTypes> = {
    ref: REF,
    served: benchThing.served(thing),
    plan: planned(benchThing, REF, thing, { carriedOut: null, knows: () => true }),
    phase: 'New',
    observed: thing,
    carriedOut: null,
    endToldBy: 'entity',
  };
  return client.workflow.start('benchThingWork', {
    workflowId: `${entityId(LIFECYCLE, REF)}/exert/${randomUUID()}`,
    taskQueue: TASK_QUEUE,
    args: [input],
  });
}

async function besideIt(
  client: Client,
  world: ThingWorld,
  pairs: readonly Pair[],
): Promise<readonly (readonly [string, string])[]> {
  const operation = await startOperation(client);
  await operation.result();
  const added = activitiesIn(await eventsOf(operation)) - STEPS;
  const perStepMs = median(pairs.map((pair) => (pair.ours - pair.floor) / STEPS));
  const whole: WholeRun[] = [];
  for (let run = 0; run < ENTITY_RUNS; run += 1) whole.push(await runEntityOnce(client, world));
  const ms = (pick: (run: WholeRun) => number): string => `${round(median(whole.map(pick)), 1)} ms`;
  return [
    [
      'added for each step',
      `${round(perStepMs, 2)} ms, ${added / STEPS} activities (the status, beside the first step; the entity writes the last)`,
    ],
    ['the child, beyond what is measured inside it', ms((run) => run.childMs)],
    ['an entity turn before the operation (observe, plan, start it)', ms((run) => run.beforeMs)],
    ['an entity turn after it (observe, plan, report, rest)', ms((run) => run.afterMs)],
  ];
}

interface WholeRun {
  readonly beforeMs: number;
  readonly childMs: number;
  readonly afterMs: number;
}

/** One entity with one operation, from the times of its own history. */
async function runEntityOnce(client: Client, world: ThingWorld): Promise<WholeRun> {
  const ref = { namespace: 'bench', name: randomUUID() };
  world.steps.set(keyOf(ref), STEPS);
  const handle = await client.workflow.start('benchThing', {
    workflowId: entityId(LIFECYCLE, ref),
    taskQueue: TASK_QUEUE,
    args: [{ ref }],
  });
  try {
    let events = await eventsOf(handle);
    // The timer that waits for drift is the end of the turn after the operation.
    while (timeOf(events, 'timerStartedEventAttributes') === null) {
      await sleep(20);
      events = await eventsOf(handle);
    }
    const at = (name: Parameters<typeof timeOf>[1]): number => timeOf(events, name) ?? Number.NaN;
    const startedMs = at('startChildWorkflowExecutionInitiatedEventAttributes');
    const endedMs = at('childWorkflowExecutionCompletedEventAttributes');
    const { last } = await handle.query<{ readonly last: OperationResult | null }>('status');
    return {
      beforeMs: startedMs - at('workflowExecutionStartedEventAttributes'),
      childMs: endedMs - startedMs - (last?.durationMs ?? Number.NaN),
      afterMs: at('timerStartedEventAttributes') - endedMs,
    };
  } finally {
    await handle.terminate('measured');
  }
}
