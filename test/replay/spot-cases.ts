import { setTimeout as sleep } from 'node:timers/promises';
import type { StackHandle } from '../../deploy/local/testing.ts';
import { spotAgentId } from '../../workflows/spot-agent/contract.ts';
import { SpotWorld } from '../e2e/spot-agent/spot-world.ts';
import { startSpotWorker } from '../e2e/spot-agent/spot-worker.ts';
import { SpotRun, type Expected } from '../faults/operations/spot-run.ts';
import { recordHistory } from './recorder.ts';

const LOOK_MS = 200;
const PATIENCE_MS = 120_000;

interface Case {
  readonly name: string;
  readonly expected: Expected;
  readonly columns?: Readonly<Record<string, string | number>>;
  readonly hasReplica?: true;
  /** What happens to the agent. */
  happen(run: SpotRun): Promise<void>;
}

/** What agents go through for their recorded histories. */
const CASES: readonly Case[] = [
  {
    name: 'failed-over',
    expected: { moved: true, others: 'terminated' },
    async happen(run) {
      for (const agent of run.agents) {
        run.tell(agent, { kind: 'termination' });
        run.reclaimOnceMoved(agent);
      }
    },
  },
  {
    name: 'promoted-at-once',
    expected: { moved: true, others: 'terminated' },
    hasReplica: true,
    async happen(run) {
      for (const agent of run.agents) {
        run.tell(agent, { kind: 'termination' });
        run.reclaimOnceMoved(agent);
      }
    },
  },
  {
    name: 'rebalanced',
    expected: { moved: true, others: 'zombie' },
    columns: { auto_switch_enabled: 1 },
    async happen(run) {
      for (const agent of run.agents) run.tell(agent, { kind: 'rebalance' });
    },
  },
  {
    name: 'switched-and-retired',
    expected: { moved: true, others: 'terminated' },
    columns: { auto_terminate_enabled: 1, terminate_wait_seconds: 0 },
    hasReplica: true,
    async happen(run) {
      for (const { id } of run.agents) await run.askForSwitch(id);
    },
  },
  {
    name: 'swept',
    expected: { moved: false, others: 'terminated' },
    async happen(run) {
      for (const { id } of run.agents) {
        await run.world.addLeak(id);
        await run.world.wake(id);
      }
    },
  },
];

/** Plays the cases on a stack, and records the histories of the agents and of the operations that they begin. */
export async function recordSpot(stack: StackHandle, version: string): Promise<void> {
  await stack.startParts('mariadb', 'ec2');
  const namespace = await stack.createTemporalNamespace('spot');
  const world = await SpotWorld.on(stack, namespace);
  const stopWorker = await startSpotWorker({
    temporal: { address: stack.temporalAddress, namespace },
    mysqlUrl: world.database.url,
    ec2Url: world.ec2.url,
  });
  try {
    for (const one of CASES) await play(world, one, version);
  } finally {
    await stopWorker();
    await world.close();
  }
}

async function play(world: SpotWorld, one: Case, version: string): Promise<void> {
  const run = new SpotRun(world);
  try {
    const { id } = await run.add(one.expected, one.columns);
    if (one.hasReplica) await world.addReadyReplica(id);
    await one.happen(run);
    await untilOver(run, one.name);
    for (const [workflowId, name] of await historiesOf(world, id, one.name)) {
      const recording = { workflowId, lifecycle: 'spot-agent', case: name, version, renames: new Map() };
      console.log(await recordHistory(world.client, recording));
    }
  } finally {
    await run.end();
  }
}

async function untilOver(run: SpotRun, name: string): Promise<void> {
  const endMs = Date.now() + PATIENCE_MS;
  for (;;) {
    const missing = await run.unfinished();
    if (missing === null) return;
    if (Date.now() > endMs) throw new Error(`${name} is not over: ${missing}`);
    await sleep(LOOK_MS);
  }
}

/** The agent's workflow and its operations, in the order in which they began, each by a name for its file. */
async function historiesOf(
  world: SpotWorld,
  agent: string,
  name: string,
): Promise<readonly (readonly [string, string])[]> {
  const entity = spotAgentId({ namespace: 'acme', name: agent });
  const { events } = await world.client.workflow.getHandle(entity).fetchHistory();
  const children = (events ?? []).flatMap(
    (event) => event.childWorkflowExecutionStartedEventAttributes?.workflowExecution?.workflowId ?? [],
  );
  return [
    [entity, name],
    ...children.map((id, at) => [id, `${name}-${at + 1}-${id.split('/')[3] ?? ''}`] as const),
  ];
}
