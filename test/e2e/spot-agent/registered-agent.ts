import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { agentIdOf } from '../../../starter/http/spot/registration.ts';
import { REGION } from '../../conformance/spot-agent/ec2-stage.ts';
import type { ApiClient } from './api-client.ts';
import type { SpotWorld } from './spot-world.ts';

/** An agent, as the API knows it. */
export interface Registered {
  readonly id: string;
  readonly logical: string;
  readonly instance: string;
}

/** What an agent sends to register. */
export const registration = (logical: string, instance: string, change: object = {}): object => ({
  logical_agent_id: logical,
  instance_id: instance,
  instance_type: 'm5.large',
  region: REGION,
  az: 'us-east-1a',
  is_primary: true,
  ...change,
});

/** An agent that registers from an instance that really runs in the emulator. */
export async function registerAgent(world: SpotWorld, by: ApiClient): Promise<Registered> {
  const logical = `app-${randomBytes(4).toString('hex')}`;
  const id = agentIdOf(by.id, logical);
  const launch = world.ec2.launchOf(id, { az: 'us-east-1a', clientId: by.id });
  const { instanceId } = await world.ec2.activities.launchEc2Instance(launch);
  const answer = await by.ask('POST', '/api/agents/register', registration(logical, instanceId));
  expect(answer).toMatchObject({ status: 200, body: { agent_id: id, role: 'primary', epoch: 0 } });
  return { id, logical, instance: instanceId };
}
