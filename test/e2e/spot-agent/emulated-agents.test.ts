import { randomBytes } from 'node:crypto';
import { RunInstancesCommand, TerminateInstancesCommand } from '@aws-sdk/client-ec2';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AgentState } from '../../../deploy/local/ec2/fleet.ts';
import { agentIdOf } from '../../../starter/http/spot/registration.ts';
import { REGION } from '../../conformance/spot-agent/ec2-stage.ts';
import { SpotApi, type ApiClient } from './api-client.ts';
import { SpotWorld } from './spot-world.ts';

const IMAGE = `ami-${randomBytes(8).toString('hex')}`;

let world: SpotWorld;
let api: SpotApi;
let client: ApiClient;
beforeAll(async () => {
  world = await SpotWorld.open();
  api = new SpotApi(world);
  client = await api.addClient();
  const address = await api.server.listen({ host: '127.0.0.1', port: 0 });
  await world.ec2.install(IMAGE, { api: address, token: client.token, agent: 'shop', everyMs: 200 });
});
afterAll(async () => {
  const left = (await agents()).map((one) => one.instanceId);
  if (left.length > 0) await world.ec2.client.send(new TerminateInstancesCommand({ InstanceIds: left }));
  await api.close();
  await world.close();
});

/** The agents that run on instances of this test's image, as they say themselves. */
const agents = async (): Promise<readonly AgentState[]> =>
  (await world.ec2.agents()).filter((one) => one.imageId === IMAGE);

const roleOf = async (instanceId: string): Promise<string> => {
  const found = (await agents()).find((one) => one.instanceId === instanceId);
  return found === undefined ? 'gone' : `${found.role} ${String(found.epoch)}`;
};

/** A person launches the first instance. */
async function launchFirst(agent: string): Promise<string> {
  const { Instances } = await world.ec2.client.send(
    new RunInstancesCommand({
      ImageId: IMAGE,
      InstanceType: 'm5.large',
      MinCount: 1,
      MaxCount: 1,
      Placement: { AvailabilityZone: `${REGION}a` },
      UserData: Buffer.from('{"role": "primary"}').toString('base64'),
      TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'keelson:agent', Value: agent }] }],
    }),
  );
  return Instances?.[0]?.InstanceId ?? '';
}

it('runs the agent on every instance of an image that has it, from boot to the end of the instance', async () => {
  const id = agentIdOf(client.id, 'shop');
  const first = await launchFirst(id);
  await world.until('the first one serves', id, async () => (await roleOf(first)) === 'primary 0');
  const pools = ['us-east-1b', 'us-east-1c'].map((az) => ({ instance_type: 'm5.large', az }));
  const config = { manual_replica: true, launch: { image_id: IMAGE, pools } };
  expect((await client.ask('PUT', `/api/agents/${id}/config`, config)).status).toBe(200);
  let replica = '';
  await world.until('a replica stands by', id, async () => {
    replica = (await agents()).find((one) => one.role === 'replica')?.instanceId ?? '';
    return replica !== '';
  });
  await world.until('it is ready', id, async () => {
    const [row] = await world.database.rows('SELECT status FROM replica_instances WHERE agent_id = ?', id);
    return row?.['status'] === 'ready';
  });
  await world.ec2.announce(first, 'termination', 5_000);
  await world.until('the replica serves', id, async () => (await roleOf(replica)) === 'primary 1');
  expect(await world.database.primaries(id)).toEqual([replica]);
  await world.until('AWS has ended the first one', id, async () => (await roleOf(first)) === 'gone');
  expect(await roleOf(replica)).toBe('primary 1');
  expect(api.defects).toEqual([]);
});
