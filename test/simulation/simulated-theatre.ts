import { entityId } from '../../workflows/shared/messages.ts';
import type { EntityStatus, OperationProgress, OperationResult } from '../../workflows/shared/messages.ts';
import type { Lifecycle } from '../../workflows/shared/lifecycle.ts';
import { resultOf } from '../../workflows/shared/failures.ts';
import type { Command, PlanEnvelope } from '../../workflows/shared/plan.ts';
import { currentAttempt, type ActivityImplementation } from './engine/attempts.ts';
import { microtasksDone } from './engine/execution.ts';
import { Engine, type EngineOptions } from './engine/engine.ts';
import type { Closing } from './engine/history.ts';
import { createLampRowActivities } from './lamp-row/activities.ts';
import { LIFECYCLE, type LampRowTypes } from './lamp-row/contract.ts';
import { simulatedWorkflows } from './lamp-row/simulated-workflows.ts';
import { LampWorld, memoryStore } from './lamp-row/world.ts';
import type { OperationEnd, Theatre } from './theatre.ts';

const PATIENCE_MS = 3_600_000;

/** The example on the simulator, with its engine at hand. */
export interface SimulatedTheatre extends Theatre {
  readonly engine: Engine;
}

/** Opens a theatre on the simulator. */
export function simulatedTheatre(
  options: Partial<EngineOptions> & { readonly lifecycle?: Lifecycle<LampRowTypes> } = {},
): SimulatedTheatre {
  const world = new LampWorld(memoryStore());
  const engine = new Engine({
    seed: 'theatre',
    workflows: simulatedWorkflows(options.lifecycle),
    activities: createLampRowActivities(world, currentAttempt) as unknown as Readonly<
      Record<string, ActivityImplementation>
    >,
    ...options,
  });
  const until: Theatre['until'] = async (what, holds) => {
    const deadlineMs = engine.agenda.nowMs + PATIENCE_MS;
    while (!(await holds())) {
      await microtasksDone();
      const nextMs = engine.agenda.nextMs;
      if (nextMs === null || nextMs > deadlineMs) {
        throw new Error(`it never came to pass that ${what}:\n${engine.journal.lines.slice(-40).join('\n')}`);
      }
      await engine.agenda.step();
    }
  };
  const query = async (workflowId: string, name: string): Promise<unknown> => {
    // As on a server, a run that has not begun answers once it has.
    await until(`${workflowId} answers`, () => engine.find(workflowId)?.answers ?? true);
    return engine.query(workflowId, name);
  };
  return {
    engine,
    world,
    until,
    async hint(ref, hint = world.hint(ref)) {
      const input = { ref };
      engine.signalWithStart('lampRow', entityId(LIFECYCLE, ref), input, { name: 'hint', input: hint });
    },
    async execute(workflowType, workflowId, input) {
      engine.start(workflowType, workflowId, input);
      await until(`${workflowId} ends`, () => engine.find(workflowId) === null);
      const closing = engine.ended.findLast((end) => end.workflowId === workflowId)?.closing;
      if (closing === undefined || closing === 'terminated') throw new Error(`${workflowId} was terminated`);
      if (closing.type === 'fail') throw closing.error;
      return closing.type === 'complete' ? closing.result : undefined;
    },
    async signal(workflowId, name, input) {
      engine.signal(workflowId, name, input);
    },
    update: (ref, name, input) => engine.update(entityId(LIFECYCLE, ref), name, input),
    status: async (ref) => (await query(entityId(LIFECYCLE, ref), 'status')) as EntityStatus,
    plan: async (ref) => (await query(entityId(LIFECYCLE, ref), 'plan')) as PlanEnvelope<Command> | null,
    progress: async (workflowId) => (await query(workflowId, 'progress')) as OperationProgress,
    isOpen: async (workflowId) => engine.find(workflowId) !== null,
    async ended(ref) {
      const prefix = `${entityId(LIFECYCLE, ref)}/`;
      return engine.ended
        .filter((end) => end.workflowId.startsWith(prefix))
        .map(({ workflowId, closing }) => endOf(workflowId, closing));
    },
    async cancel(workflowId) {
      engine.cancel(workflowId);
    },
    async terminate(workflowId) {
      engine.terminate(workflowId);
    },
    async close() {},
  };
}

function endOf(workflowId: string, closing: Closing | 'terminated'): OperationEnd {
  const operation = workflowId.split('/').at(-2) ?? '';
  if (closing === 'terminated') return { workflowId, operation, status: 'terminated', result: null };
  switch (closing.type) {
    case 'complete':
      return { workflowId, operation, status: 'completed', result: closing.result as OperationResult };
    case 'fail':
      return { workflowId, operation, status: 'failed', result: resultOf(closing.error) };
    case 'cancelled':
    case 'continue-as-new':
      return { workflowId, operation, status: 'cancelled', result: null };
  }
}
