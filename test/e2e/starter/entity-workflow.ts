import {
  ApplicationFailure,
  condition,
  setHandler,
  sleep,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import * as messages from '../../../workflows/shared/messages.ts';
import type { EntityStatus, OperationProgress, StepProgress } from '../../../workflows/shared/messages.ts';

const HASH = 'sha256:1234';

const RESULT = {
  operation: 'create',
  outcome: 'done',
  message: '3 masters serve',
  failure: null,
  steps: { done: 2, of: 2 },
  phase: 'Running',
  durationMs: 1500,
  stepSeconds: { CreateShard: 1 },
  facts: {},
} as const;

/** An entity that waits for an approval, runs one operation of two steps, and rests: all that a person can see of one. */
export async function valkeyCluster({ ref }: { ref: messages.ResourceRef }): Promise<void> {
  let approved = false;
  let status: EntityStatus = {
    resource: `${ref.namespace}/${ref.name}`,
    uid: 'u1',
    generation: 1,
    phase: 'Pending',
    message: 'a new cluster is wanted',
    conditions: [
      { type: 'Ready', status: 'False', reason: 'Pending', message: 'not yet', observedGeneration: 1 },
    ],
    paused: null,
    waiting: { on: 'approval', message: 'create needs an approval', untilMs: null },
    operation: null,
    last: null,
  };
  const change = (to: Partial<EntityStatus>): void => {
    status = { ...status, ...to };
  };
  const refuse = (when: boolean, why: string): void => {
    if (when) throw ApplicationFailure.nonRetryable(why, 'Refused');
  };
  setHandler(messages.hint, () => undefined);
  setHandler(messages.status, () => status);
  setHandler(messages.plan, () => ({
    lifecycle: 'valkey-cluster',
    resource: status.resource,
    operation: 'create',
    version: 1,
    steps: [{ id: '1', kind: 'CreateShard', reason: 'there is none', group: 1, irreversible: true }],
    totals: { steps: 1 },
    blocked: [],
    unknown: [],
    hash: HASH,
  }));
  setHandler(
    messages.approve,
    ({ by }) => {
      approved = true;
      return { message: `create is approved by ${by}` };
    },
    { validator: ({ hash }) => refuse(hash !== HASH, `the plan has the hash ${HASH}`) },
  );
  setHandler(messages.pause, ({ reason }) => {
    change({ paused: { reason } });
    return { message: 'paused' };
  });
  setHandler(
    messages.resume,
    () => {
      change({ paused: null });
      return { message: 'resumed' };
    },
    { validator: () => refuse(status.paused === null, 'it is not paused') },
  );
  setHandler(messages.cancelOperation, ({ reason }) => ({ message: `cancelled: ${reason}` }), {
    validator: (_input) => refuse(status.operation === null, 'no operation is running'),
  });
  setHandler(messages.retry, () => ({ message: 'tried again now' }));

  await condition(() => approved);
  const workflowId = `${workflowInfo().workflowId}/create/u1-1.1`;
  const child = await startChild('createLamp', { workflowId, args: [] });
  change({
    phase: 'Creating',
    message: '',
    waiting: null,
    operation: { name: 'create', workflowId, startedAtMs: Date.now() },
  });
  await child.result();
  change({
    phase: 'Running',
    operation: null,
    waiting: { on: 'drift', message: 'as desired', untilMs: null },
    last: RESULT,
  });
  await condition(() => false);
}

/** The operation, whose steps take a moment each. */
export async function createLamp(): Promise<void> {
  const steps: StepProgress[] = ['CreateShard', 'VerifyHealth'].map((kind, at) => ({
    id: String(at + 1),
    kind,
    reason: 'it is wanted',
    state: 'waiting',
    startedAtMs: null,
    endedAtMs: null,
  }));
  setHandler(messages.progress, (): OperationProgress => ({
    operation: 'create',
    phase: 'Creating',
    steps,
    waiting: null,
    stopping: null,
  }));
  for (const [at, step] of steps.entries()) {
    const startedAtMs = Date.now();
    steps[at] = { ...step, state: 'running', startedAtMs };
    await sleep(1_500);
    steps[at] = { ...step, state: 'done', startedAtMs, endedAtMs: Date.now() };
  }
}

/** A dry run: the plan for the spec that was asked for. */
export async function valkeyClusterPlan(input: {
  ref: messages.ResourceRef;
  spec?: object;
}): Promise<object> {
  return {
    lifecycle: 'valkey-cluster',
    resource: `${input.ref.namespace}/${input.ref.name}`,
    operation: 'none',
    version: 1,
    steps: [],
    totals: input.spec ?? {},
    blocked: [],
    unknown: [],
    hash: HASH,
  };
}
