import type { IncomingNotice } from '../../workflows/spot-agent/contract.ts';
import { findOwner, type AgentRow } from '../http/spot/agents.ts';
import type { Entities } from '../http/spot/entities.ts';
import type { Session } from '../http/spot/store.ts';
import type { Ec2Event } from './ec2-event.ts';

/** An interruption warning names no time: AWS gives two minutes. */
const NOTICE_MS = 120_000;

/** What became of a message; `poison` can be told to nobody, however often it comes. */
export interface Delivery {
  readonly end: 'done' | 'poison';
  readonly says: string;
}

/** Whom events are told to. */
export interface Recipients {
  readonly store: Session;
  readonly entities: Pick<Entities, 'notice' | 'hint'>;
}

/** Tells the workflow of the agent that an event concerns; resolves once it is durable there. */
export async function deliver({ store, entities }: Recipients, event: Ec2Event): Promise<Delivery> {
  if (event.is === 'poison') return { end: 'poison', says: event.reason };
  if (event.is === 'foreign') return { end: 'done', says: event.reason };
  const agent = await findOwner(store, event.instanceId);
  if (agent === null) return { end: 'done', says: `no agent has ${event.instanceId}` };
  if (event.is === 'state') {
    await entities.hint(agent);
    return { end: 'done', says: `${agent.id} looks at ${event.instanceId}, which is ${event.state}` };
  }
  const { effect, message } = await entities.notice(agent, noticeOf(agent, event));
  return { end: 'done', says: `${event.kind} notice of ${event.instanceId}, ${effect}: ${message}` };
}

/** A recommendation ages from its own time, however late it comes: one of yesterday is over at once. */
function noticeOf({ id }: AgentRow, event: Extract<Ec2Event, { readonly is: 'notice' }>): IncomingNotice {
  const { kind, instanceId, timeMs } = event;
  const nowMs = Date.now();
  const deadlineMs = kind === 'termination' ? timeMs + NOTICE_MS : null;
  return {
    agentId: id,
    kind,
    instanceId,
    source: 'eventbridge',
    atMs: deadlineMs ?? timeMs,
    receivedAtMs: kind === 'rebalance' ? Math.min(timeMs, nowMs) : nowMs,
    deadlineMs,
  };
}
