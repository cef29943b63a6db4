import { randomBytes } from 'node:crypto';
import { CreateTagsCommand, DescribeInstancesCommand } from '@aws-sdk/client-ec2';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openEc2Stage, REGION, type Ec2Stage } from './ec2-stage.ts';

let stage: Ec2Stage;
beforeAll(async () => {
  stage = await openEc2Stage();
});
afterEach(() => stage.behave({ capacity: [], unseenMs: 0, prices: [], outages: [] }));
afterAll(() => stage.close());

const agentName = (): string => `agent-${randomBytes(4).toString('hex')}`;
const look = (agentId: string, instanceIds: readonly string[] = []) =>
  stage.activities.observeEc2Instances({ region: REGION, agentId, instanceIds, pools: [] });
const target = (agentId: string, instanceId: string, knownSinceMs = 0) => ({
  region: REGION,
  agentId,
  instanceId,
  knownSinceMs,
});

describe('a launch', () => {
  it('is one instance however often it is asked for, tagged with whom and what it is for', async () => {
    const agent = agentName();
    const launch = stage.launchOf(agent);
    const answers = await Promise.all([1, 2, 3].map(() => stage.activities.launchEc2Instance(launch)));
    const again = await stage.activities.launchEc2Instance(launch);
    expect(new Set([...answers, again].map((one) => one.instanceId)).size).toBe(1);
    expect(again.repeated).toBe(true);
    const seen = await look(agent);
    expect(seen?.instances).toMatchObject([
      { instanceType: 'm5.large', az: 'us-east-1b', ours: true, replica: launch.replica },
    ]);
    const { Reservations } = await stage.client.send(
      new DescribeInstancesCommand({ InstanceIds: [again.instanceId] }),
    );
    const instance = Reservations?.[0]?.Instances?.[0];
    expect(instance?.InstanceLifecycle).toBe('spot');
    expect(Object.fromEntries((instance?.Tags ?? []).map((tag) => [tag.Key, tag.Value]))).toMatchObject({
      'keelson:agent': agent,
      'keelson:client': 'acme',
      'keelson:epoch': '0',
      'keelson:operation': launch.operation,
    });
  });

  it('is repeated by its token while EC2 does not know the instance yet', async () => {
    const agent = agentName();
    await stage.behave({ unseenMs: 60_000 });
    const launch = stage.launchOf(agent);
    const first = await stage.activities.launchEc2Instance(launch);
    expect(await look(agent, [first.instanceId])).toMatchObject({ instances: [] });
    const second = await stage.activities.launchEc2Instance(launch);
    expect(second.instanceId).toBe(first.instanceId);
    await stage.behave({ unseenMs: 0 });
    expect((await look(agent))?.instances).toHaveLength(1);
  });

  it('for something else under the same token is refused', async () => {
    const launch = stage.launchOf(agentName());
    await stage.behave({ unseenMs: 60_000 });
    await stage.activities.launchEc2Instance(launch);
    await expect(
      stage.activities.launchEc2Instance({ ...launch, instanceType: 'c5.large' }),
    ).rejects.toMatchObject({ type: 'Ec2Invalid' });
  });

  it.each(['InsufficientInstanceCapacity', 'MaxSpotInstanceCountExceeded', 'UnfulfillableCapacity'])(
    'that meets %s says so, and another pool is free',
    async (code) => {
      const agent = agentName();
      await stage.behave({ capacity: [{ instanceType: 'm5.large', az: 'us-east-1b', code }] });
      const launch = stage.launchOf(agent);
      await expect(stage.activities.launchEc2Instance(launch)).rejects.toMatchObject({
        type: 'Ec2NoCapacity',
        message: expect.stringContaining(code),
      });
      const elsewhere = stage.launchOf(agent, { az: 'us-east-1c' });
      expect(await stage.activities.launchEc2Instance(elsewhere)).toMatchObject({ repeated: false });
      await stage.behave({ capacity: [] });
      expect(await stage.activities.launchEc2Instance(launch)).toMatchObject({ repeated: false });
    },
  );

  it('at the full price does not ask for spot capacity', async () => {
    await stage.behave({ capacity: [{ instanceType: '*', az: '*', code: 'InsufficientInstanceCapacity' }] });
    const launch = stage.launchOf(agentName(), { market: 'on-demand' });
    expect(await stage.activities.launchEc2Instance(launch)).toMatchObject({ repeated: false });
  });

  it('into a subnet that does not exist is refused for its configuration', async () => {
    const launch = stage.launchOf(agentName(), { subnetId: 'subnet-0123456789abcdef0' });
    await expect(stage.activities.launchEc2Instance(launch)).rejects.toMatchObject({ type: 'Ec2Invalid' });
  });
});

describe('an observation', () => {
  it('finds instances by tag, and untagged ones that a row names', async () => {
    const agent = agentName();
    const other = await stage.activities.launchEc2Instance(stage.launchOf(agentName()));
    const own = await stage.activities.launchEc2Instance(stage.launchOf(agent));
    const seen = await look(agent, [other.instanceId, 'i-0123456789abcdef0']);
    expect(new Map(seen?.instances.map((one) => [one.id, one.ours]))).toEqual(
      new Map([
        [own.instanceId, true],
        [other.instanceId, false],
      ]),
    );
  });

  it('has the newest price of each pool', async () => {
    await stage.behave({ prices: [{ instanceType: 'm5.large', az: 'us-east-1b', price: 0.042 }] });
    const seen = await stage.activities.observeEc2Instances({
      region: REGION,
      agentId: agentName(),
      instanceIds: [],
      pools: [
        { instanceType: 'm5.large', az: 'us-east-1b' },
        { instanceType: 'c5.large', az: 'us-east-1a' },
        { instanceType: 'c5.large', az: 'mars-1a' },
      ],
    });
    expect(seen?.prices).toEqual([
      { instanceType: 'm5.large', az: 'us-east-1b', price: 0.042 },
      { instanceType: 'c5.large', az: 'us-east-1a', price: expect.any(Number) },
    ]);
  });

  it('is nothing, and not an error, while EC2 has trouble of its own', async () => {
    await stage.behave({ outages: [{ action: 'DescribeInstances', times: 2 }] });
    expect(await look(agentName())).toBeNull();
  });
});

describe('a termination', () => {
  it('ends an instance of the agent, and finds it ended when it is repeated', async () => {
    const agent = agentName();
    const { instanceId } = await stage.activities.launchEc2Instance(stage.launchOf(agent));
    await stage.activities.terminateEc2Instance(target(agent, instanceId));
    await stage.activities.awaitEc2Terminated(target(agent, instanceId));
    expect((await look(agent))?.instances).toMatchObject([{ state: 'terminated' }]);
    expect(await stage.activities.terminateEc2Instance(target(agent, instanceId))).toEqual({
      state: 'terminated',
    });
  });

  it('leaves alone what is tagged as another agent’s, or not at all', async () => {
    const owner = agentName();
    const { instanceId } = await stage.activities.launchEc2Instance(stage.launchOf(owner));
    const other = target(agentName(), instanceId);
    await expect(stage.activities.terminateEc2Instance(other)).rejects.toMatchObject({ type: 'Ec2NotOurs' });
    await stage.client.send(
      new CreateTagsCommand({ Resources: [instanceId], Tags: [{ Key: 'keelson:agent', Value: '' }] }),
    );
    await expect(stage.activities.terminateEc2Instance(target(owner, instanceId))).rejects.toMatchObject({
      type: 'Ec2NotOurs',
    });
    expect((await look(owner, [instanceId]))?.instances).toMatchObject([{ state: 'running' }]);
  });

  it('does not take an instance that EC2 has not heard of yet for one that is gone', async () => {
    const agent = agentName();
    await stage.behave({ unseenMs: 60_000 });
    const { instanceId } = await stage.activities.launchEc2Instance(stage.launchOf(agent));
    await expect(
      stage.activities.terminateEc2Instance(target(agent, instanceId, Date.now())),
    ).rejects.toMatchObject({ type: 'Ec2NotVisible' });
    expect(await stage.activities.terminateEc2Instance(target(agent, 'i-0123456789abcdef0'))).toEqual({
      state: 'terminated',
    });
  });
});

describe('the metadata of an instance', () => {
  const read = async (instanceId: string, path: string, token: string): Promise<Response> =>
    fetch(`${stage.url}/metadata/${instanceId}/latest/meta-data/${path}`, {
      headers: { 'x-aws-ec2-metadata-token': token },
    });

  it('asks for a token, says nothing until something is announced, and then the time', async () => {
    const instanceId = `i-${randomBytes(8).toString('hex')}`;
    const token = await fetch(`${stage.url}/metadata/${instanceId}/latest/api/token`, {
      method: 'PUT',
      headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '60' },
    });
    const text = await token.text();
    expect((await read(instanceId, 'spot/instance-action', 'wrong')).status).toBe(401);
    expect((await read(instanceId, 'spot/instance-action', text)).status).toBe(404);
    await stage.announce(instanceId, 'rebalance');
    await stage.announce(instanceId, 'termination', 90_000);
    expect(await (await read(instanceId, 'events/recommendations/rebalance', text)).json()).toEqual({
      noticeTime: expect.stringMatching(/Z$/),
    });
    expect(await (await read(instanceId, 'spot/instance-action', text)).json()).toEqual({
      action: 'terminate',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
  });
});
