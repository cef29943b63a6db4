import type { IncomingNotice, NoticeAnswer } from '../../../workflows/spot-agent/contract.ts';
import { readAgent, type AgentRow } from './agents.ts';
import type { Asked } from './endpoint.ts';
import { noSuchAgent, Refusal } from './refusal.ts';

const NOTICE_MS = 120_000;
/** AWS tells minutes ahead; whatever is a day away, no clock of an instance is that wrong. */
const FURTHEST_MS = 86_400_000;
/** Metadata tells of a recommendation as long as the instance runs. */
const OLDEST_MS = 366 * 86_400_000;

/** What a notice says, before it has an agent. */
type Told = Pick<IncomingNotice, 'kind' | 'instanceId' | 'source'> & {
  /** The time in the notice: of the recommendation, or of the end of the instance. */
  readonly time: string | undefined;
};

/** Hands a notice to the agent's workflow, and answers what will happen and by when. */
export async function tellNotice(asked: Asked<unknown, unknown>, told: Told) {
  const agent = await readAgent(asked.store, asked.clientId, asked.agentId);
  return show(await asked.entities.notice(agent, noticeOf(agent, told)));
}

/** A notice as the workflow takes it. One without a time gets two minutes from now, as AWS gives. */
export function noticeOf({ id }: AgentRow, { kind, instanceId, source, time }: Told): IncomingNotice {
  const nowMs = Date.now();
  const timeMs = time === undefined ? null : Date.parse(time);
  if (timeMs !== null && (timeMs > nowMs + FURTHEST_MS || timeMs < nowMs - OLDEST_MS))
    throw new Refusal(400, 'INVALID_REQUEST', `the body: ${time ?? ''} is not of these days`);
  return {
    agentId: id,
    kind,
    instanceId,
    source,
    atMs: timeMs ?? nowMs,
    receivedAtMs: nowMs,
    deadlineMs: kind === 'termination' ? (timeMs ?? nowMs + NOTICE_MS) : null,
  };
}

function show(answer: NoticeAnswer) {
  if (answer.effect === 'unknown-agent') throw noSuchAgent();
  return {
    message: answer.message,
    data: {
      effect: answer.effect,
      action: answer.action,
      emergency_replica_id: answer.replicaId,
      primary_instance_id: answer.primary,
      epoch: answer.epoch,
      deadline: answer.deadlineMs === null ? null : new Date(answer.deadlineMs).toISOString(),
    },
  };
}
