import { changeConfig, readAgent, showConfig } from './agents.ts';
import { endpoint, type Endpoint } from './endpoint.ts';
import { takeHeartbeat } from './heartbeats.ts';
import { noticeOf, tellNotice } from './notices.ts';
import { Refusal } from './refusal.ts';
import { register } from './registration.ts';
import { readCommands, readEmergency, recordReport } from './reports.ts';
import * as schemas from './schemas.ts';

const AGENT = '/api/agents/:id';

/** Every endpoint of the API. */
export const ENDPOINTS: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/api/agents/register',
    name: 'register',
    summary: 'Register an agent, or the instance that it runs on now.',
    body: schemas.registerBody,
    answer: schemas.registerAnswer,
    async handle({ store, entities, clientId, body }) {
      const { agentId, judged } = await register(store, clientId, body);
      if (judged.is === 'rejected') return { reason: judged.reason, config: { enabled: false } };
      const agent = await readAgent(store, clientId, agentId);
      await entities.hint(agent);
      const role = judged.is === 'replica' ? ('replica' as const) : ('primary' as const);
      return {
        agent_id: agentId,
        role,
        epoch: agent.epoch,
        reason: judged.reason,
        config: showConfig(agent),
      };
    },
  }),
  endpoint({
    method: 'POST',
    path: `${AGENT}/heartbeat`,
    name: 'heartbeat',
    summary: 'Say that an instance runs, or stops; a replica says how far it is.',
    body: schemas.heartbeatBody,
    answer: schemas.heartbeatAnswer,
    async handle({ store, entities, clientId, agentId, body }) {
      const { agent, outcome } = await store.transaction(async (session) => {
        const row = await readAgent(session, clientId, agentId, 'FOR UPDATE');
        return { agent: row, outcome: await takeHeartbeat(session, row, body) };
      });
      if (outcome.primary && body.status === 'stopping') {
        const told = {
          kind: 'termination',
          instanceId: body.instance_id,
          source: 'heartbeat',
          time: undefined,
        } as const;
        const answer = await entities.notice(agent, noticeOf(agent, told));
        const primary = answer.primary === body.instance_id;
        return { primary, epoch: answer.epoch ?? agent.epoch, message: answer.message };
      }
      if (outcome.becameReady) await entities.hint({ ...agent, generation: agent.generation + 1 });
      return { primary: outcome.primary, epoch: agent.epoch, message: outcome.message };
    },
  }),
  endpoint({
    method: 'POST',
    path: `${AGENT}/rebalance-notice`,
    name: 'rebalanceNotice',
    summary: 'Tell of a recommendation to rebalance: a replica is prepared in another pool.',
    body: schemas.rebalanceBody,
    answer: schemas.noticeAnswer,
    handle: (asked) =>
      tellNotice(asked, {
        kind: 'rebalance',
        instanceId: asked.body.instance_id,
        source: 'agent',
        time: asked.body.notice_time,
      }),
  }),
  endpoint({
    method: 'POST',
    path: `${AGENT}/termination-notice`,
    name: 'terminationNotice',
    summary: 'Tell of an interruption: a ready replica is PRIMARY when this is answered.',
    body: schemas.terminationBody,
    answer: schemas.noticeAnswer,
    handle: (asked) =>
      tellNotice(asked, {
        kind: 'termination',
        instanceId: asked.body.instance_id,
        source: 'agent',
        time: asked.body.time,
      }),
  }),
  endpoint({
    method: 'GET',
    path: `${AGENT}/config`,
    name: 'readConfig',
    summary: 'Read the configuration.',
    answer: schemas.configAnswer,
    async handle({ store, clientId, agentId }) {
      const agent = await readAgent(store, clientId, agentId);
      return { epoch: agent.epoch, generation: agent.generation, config: showConfig(agent) };
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${AGENT}/config`,
    name: 'changeConfig',
    summary: 'Change what is named of the configuration, and leave the rest.',
    body: schemas.configBody,
    answer: schemas.configAnswer,
    async handle({ store, entities, clientId, agentId, body }) {
      await store.transaction(async (session) =>
        changeConfig(session, await readAgent(session, clientId, agentId, 'FOR UPDATE'), body),
      );
      const agent = await readAgent(store, clientId, agentId);
      await entities.hint(agent);
      return { epoch: agent.epoch, generation: agent.generation, config: showConfig(agent) };
    },
  }),
  endpoint({
    method: 'GET',
    path: `${AGENT}/pending-commands`,
    name: 'pendingCommands',
    summary: 'Ask what an instance is to do now.',
    query: schemas.pendingQuery,
    answer: schemas.commandsAnswer,
    handle: (asked) => readCommands(asked, asked.query.instance_id),
  }),
  endpoint({
    method: 'GET',
    path: `${AGENT}/emergency-status`,
    name: 'emergencyStatus',
    summary: 'Read the notice that stands, and what is being prepared.',
    answer: schemas.emergencyAnswer,
    handle: readEmergency,
  }),
  endpoint({
    method: 'POST',
    path: `${AGENT}/switch-report`,
    name: 'switchReport',
    summary: 'Report how taking over went on the instance.',
    body: schemas.reportBody,
    answer: schemas.acceptedAnswer,
    handle: (asked) => recordReport(asked, 'switch_report', asked.body),
  }),
  endpoint({
    method: 'POST',
    path: `${AGENT}/cleanup-report`,
    name: 'cleanupReport',
    summary: 'Report how giving up went on the instance.',
    body: schemas.reportBody,
    answer: schemas.acceptedAnswer,
    handle: (asked) => recordReport(asked, 'cleanup_report', asked.body),
  }),
  endpoint({
    method: 'POST',
    path: `${AGENT}/decide`,
    name: 'decide',
    summary: 'Ask what would be done for the agent now, and why; it changes nothing.',
    answer: schemas.decideAnswer,
    async handle({ store, entities, clientId, agentId }) {
      const plan = await entities.plan(await readAgent(store, clientId, agentId));
      return {
        operation: plan?.operation ?? 'none',
        steps: (plan?.steps ?? []).map(({ kind, reason }) => ({ kind, reason })),
        blocked: (plan?.blocked ?? []).map(({ guard, message }) => `${guard}: ${message}`),
      };
    },
  }),
  endpoint({
    method: 'POST',
    path: `${AGENT}/switch`,
    name: 'switch',
    summary: 'Ask for a replica to become PRIMARY, when it is healthy.',
    body: schemas.switchBody,
    answer: schemas.acceptedAnswer,
    async handle({ store, entities, clientId, agentId, body }) {
      const target = body.target_instance_id;
      await store.transaction(async (session) => {
        await readAgent(session, clientId, agentId, 'FOR UPDATE');
        const changed = await session.write(
          `UPDATE agents SET switch_target = ?, generation = generation + 1 WHERE id = ? AND EXISTS (
             SELECT 1 FROM replica_instances WHERE agent_id = ? AND instance_id = ? AND status IN ('launching', 'syncing', 'ready'))`,
          target,
          agentId,
          agentId,
          target,
        );
        if (changed === 0) throw new Refusal(409, 'NOT_A_REPLICA', `${target} is no replica of this agent`);
      });
      await entities.hint(await readAgent(store, clientId, agentId));
      return { message: `${target} becomes PRIMARY as soon as it is healthy` };
    },
  }),
];
