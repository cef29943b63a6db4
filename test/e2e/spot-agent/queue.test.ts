import { randomBytes } from 'node:crypto';
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../../starter/database/connection.ts';
import { startConsumer, type Consumer } from '../../../starter/events/consumer.ts';
import { openQueue } from '../../../starter/events/queue.ts';
import { createEntities } from '../../../starter/http/spot/entities.ts';
import { createStore } from '../../../starter/http/spot/store.ts';
import { REGION } from '../../conformance/spot-agent/ec2-stage.ts';
import { SpotWorld } from './spot-world.ts';

const afterwards = new AsyncDisposableStack();
const warnings: object[] = [];
let world: SpotWorld;
let sqs: SQSClient;
let queueUrl: string;
let consumer: Consumer;
beforeAll(async () => {
  world = await SpotWorld.open();
  afterwards.defer(() => world.close());
  queueUrl = await world.ec2.openQueue(`test-${randomBytes(4).toString('hex')}`);
  sqs = new SQSClient({ region: REGION, endpoint: new URL(queueUrl).origin });
  afterwards.defer(() => sqs.destroy());
  const pool = openDatabase(world.database.url);
  afterwards.defer(() => pool.end());
  consumer = startConsumer(
    openQueue(queueUrl),
    { store: createStore(pool), entities: createEntities(world.client, 30_000) },
    { info: () => {}, warn: (fields, words) => warnings.push({ ...fields, words }) },
  );
  afterwards.defer(() => consumer.stop());
});
afterAll(() => afterwards.disposeAsync());

/** How many messages were received, and neither removed nor given back. */
async function inWork(): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
  );
  return Number(Attributes.ApproximateNumberOfMessagesNotVisible);
}

it('promotes on an interruption warning, once, though the agent tells of the same', async () => {
  const agent = await world.addAgent();
  const replica = await world.addReadyReplica(agent.id);
  await Promise.all([world.ec2.announce(agent.primary, 'termination'), world.notice(agent)]);
  await world.until('the replica is PRIMARY', agent.id, async () => {
    return (await world.database.primaries(agent.id)).includes(replica);
  });
  const sources = async (): Promise<readonly string[]> => {
    const told = await world.database.rows(
      "SELECT message FROM system_events WHERE agent_id = ? AND event_type = 'termination_notice' ORDER BY id",
      agent.id,
    );
    return told.map((one) => String(one['message']).split(':')[0] ?? '');
  };
  await world.until('both have told', agent.id, async () => (await sources()).length === 2);
  expect((await sources()).toSorted()).toEqual([
    'termination notice from eventbridge',
    'termination notice from test',
  ]);
  const [row] = await world.database.rows('SELECT epoch FROM agents WHERE id = ?', agent.id);
  expect(row).toMatchObject({ epoch: 1 });
  expect(await world.database.primaries(agent.id)).toEqual([replica]);
});

it('prepares a replica on a rebalance recommendation that only EventBridge tells of', async () => {
  const agent = await world.addAgent();
  await world.ec2.announce(agent.primary, 'rebalance');
  await world.until('a replica is launched', agent.id, async () => {
    return Object.keys(await world.cloud(agent.id)).length === 2;
  });
  expect(await world.database.primaries(agent.id)).toEqual([agent.primary]);
});

it('fails over when EC2 ends a PRIMARY without any notice, because the changed state wakes the agent', async () => {
  const agent = await world.addAgent();
  const replica = await world.addReadyReplica(agent.id);
  await world.ec2.activities.terminateEc2Instance({
    region: REGION,
    agentId: agent.id,
    instanceId: agent.primary,
    knownSinceMs: 0,
  });
  await world.until('the replica is PRIMARY', agent.id, async () => {
    return (await world.database.primaries(agent.id)).includes(replica);
  });
});

it('leaves what is no event in the queue, and says why', async () => {
  await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: '{"detail-type": 7}' }));
  await world.until('it is said', '', async () => warnings.length > 0);
  expect(warnings).toEqual([
    expect.objectContaining({
      reason: expect.stringMatching(/detail-type/),
      words: expect.stringMatching(/redrive/),
    }),
  ]);
  expect(await inWork()).toBeGreaterThanOrEqual(1);
});
