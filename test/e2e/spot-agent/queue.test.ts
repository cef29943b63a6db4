import { randomBytes } from 'node:crypto';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../../starter/database/connection.ts';
import { startConsumer, type Consumer } from '../../../starter/events/consumer.ts';
import { openQueue } from '../../../starter/events/queue.ts';
import { createEntities } from '../../../starter/http/spot/entities.ts';
import { createStore } from '../../../starter/http/spot/store.ts';
import { REGION } from '../../conformance/spot-agent/ec2-stage.ts';
import { SpotWorld } from './spot-world.ts';

const afterwards = new AsyncDisposableStack();
/** How often the queue of the emulator gives a message before it puts it aside. */
const TRIES = 5;
const warnings: Readonly<Record<string, unknown>>[] = [];
let world: SpotWorld;
let sqs: SQSClient;
let queueUrl: string;
let consume: (url: string) => Consumer;
beforeAll(async () => {
  world = await SpotWorld.open();
  afterwards.defer(() => world.close());
  queueUrl = await world.ec2.openQueue(`test-${randomBytes(4).toString('hex')}`);
  sqs = new SQSClient({ region: REGION, endpoint: new URL(queueUrl).origin });
  afterwards.defer(() => sqs.destroy());
  const pool = openDatabase(world.database.url);
  afterwards.defer(() => pool.end());
  const recipients = { store: createStore(pool), entities: createEntities(world.client, 30_000) };
  consume = (url) =>
    startConsumer(openQueue(url), recipients, {
      info: () => {},
      warn: (fields, words) => warnings.push({ ...fields, words }),
    });
  const consumer = consume(queueUrl);
  afterwards.defer(() => consumer.stop());
});
afterAll(() => afterwards.disposeAsync());

/** How many messages a queue has, whoever has received them. */
async function held(QueueUrl: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
  );
  return (
    Number(Attributes.ApproximateNumberOfMessages) + Number(Attributes.ApproximateNumberOfMessagesNotVisible)
  );
}

const send = (QueueUrl: string, MessageBody: string) =>
  sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));

async function bodiesOf(QueueUrl: string): Promise<readonly string[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
  );
  return Messages.map(({ Body = '' }) => Body);
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

function eventOf(type: string, detail: unknown, day = new Date().toISOString().slice(0, 10)): string {
  return JSON.stringify({ source: 'aws.ec2', 'detail-type': type, time: `${day}T00:00:00Z`, detail });
}

/** What no event can be: it is of no JSON, of another shape, without an instance, or of another age. */
const POISON = [
  'not JSON',
  '{"detail-type": 7}',
  '[]',
  eventOf('EC2 Spot Instance Interruption Warning', { 'instance-id': "i-0'; DROP TABLE agents" }),
  eventOf('EC2 Instance State-change Notification', null),
  eventOf('EC2 Spot Instance Interruption Warning', { 'instance-id': 'i-0123456789abcdef0' }, '9999-12-31'),
];

it('puts what is no event aside in the dead-letter queue and says why, and what is behind it is delivered', async () => {
  for (const body of POISON) await send(queueUrl, body);
  const agent = await world.addAgent();
  const replica = await world.addReadyReplica(agent.id);
  await world.ec2.announce(agent.primary, 'termination');
  await world.until('the replica is PRIMARY', agent.id, async () => {
    return (await world.database.primaries(agent.id)).includes(replica);
  });

  const deadUrl = `${queueUrl}-dead`;
  await world.until('all of it is put aside', agent.id, async () => {
    return (await held(deadUrl)) === POISON.length && (await held(queueUrl)) === 0;
  });
  expect((await bodiesOf(deadUrl)).toSorted()).toEqual(POISON.toSorted());
  for (const { received, reason, words } of warnings) {
    expect(received).toBeLessThanOrEqual(TRIES);
    expect(reason).not.toBe('');
    expect(words).toBe('a message is no event: it goes to the dead-letter queue');
  }
  expect(warnings).toHaveLength(POISON.length * TRIES);
});

it('removes what is no event from a queue that has no other beside it, and tells what it was', async () => {
  const asked = new CreateQueueCommand({ QueueName: `test-${randomBytes(4).toString('hex')}` });
  const { QueueUrl = '' } = await sqs.send(asked);
  await send(QueueUrl, `poison ${'x'.repeat(5_000)}`);
  const before = warnings.length;
  const alone = consume(QueueUrl);
  await world.until('it is removed', '', async () => (await held(QueueUrl)) === 0);
  await alone.stop();
  expect(warnings.slice(before)).toEqual([
    {
      message: expect.any(String),
      received: 1,
      reason: 'it is not JSON',
      body: expect.stringMatching(/^poison x{400,500}$/),
      words: 'a message is no event, and the queue has no dead-letter queue: it is removed',
    },
  ]);
});
