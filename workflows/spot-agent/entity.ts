import { proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { MysqlActivities } from '../../activities/mysql/contract.ts';
import type { EntityInput } from '../shared/entity.ts';
import type { ResourceRef } from '../shared/messages.ts';
import type { PlanEnvelope } from '../shared/plan.ts';
import { runPlan } from '../shared/planning.ts';
import { basicPort, entityPort } from '../shared/temporal-port.ts';
import { runAgent } from './agent-run.ts';
import { KIND, noticeUpdate, type SpotTypes } from './contract.ts';
import type { SpotCommand } from './domain/commands.ts';
import { spotLifecycle } from './lifecycle.ts';
import { answerNotice } from './notice-answer.ts';

/** An emergency is answered within the workflow task that brings it: no round trip of the server lies between. */
const desk = proxyLocalActivities<MysqlActivities>({
  startToCloseTimeout: 10_000,
  retry: { initialInterval: 100, maximumInterval: 2_000 },
});

/** The only writer of one spot agent. A person may start it with anything: the loop refuses it in words. */
export const spotAgent = (input: EntityInput): Promise<void> => {
  const { tuning } = (input as EntityInput | undefined) ?? {};
  const agent = runAgent(entityPort<SpotTypes['activities']>(tuning), input);
  setHandler(
    noticeUpdate,
    async (notice) => {
      const { answer, observed } = await answerNotice(desk, notice, agent.prices());
      if (observed !== null)
        agent.wake({ kind: KIND, uid: observed.agent.uid, generation: observed.agent.generation });
      return answer;
    },
    { description: 'Tell of a notice that AWS has given for an instance.' },
  );
  return agent.end;
};

/** What the agent's entity would do now; it writes nothing. */
export const spotAgentPlan = (input: { readonly ref: ResourceRef }): Promise<PlanEnvelope<SpotCommand>> =>
  runPlan(basicPort<SpotTypes['activities']>(), spotLifecycle, input, (observed) => observed);
