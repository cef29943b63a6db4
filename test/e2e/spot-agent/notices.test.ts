import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SpotWorld } from './spot-world.ts';

let world: SpotWorld;
beforeAll(async () => {
  world = await SpotWorld.open();
});
afterEach(() => world.ec2.behave({ capacity: [], unseenMs: 0, outages: [] }));
afterAll(() => world.close());

const primaryIs = async (agent: string, instance: string): Promise<boolean> =>
  (await world.database.primaries(agent)).includes(instance);

describe('a termination notice', () => {
  it('promotes a ready replica before it is answered, and says so', async () => {
    const agent = await world.addAgent();
    const replica = await world.addReadyReplica(agent.id);
    const answer = await world.notice(agent);
    expect(answer).toMatchObject({ effect: 'new', action: 'promoted', primary: replica, epoch: 1 });
    expect(await world.database.primaries(agent.id)).toEqual([replica]);
    expect(await world.statuses(agent.id)).toMatchObject({ [agent.primary]: 'zombie' });
  });

  it('has one effect when it comes twice, together, and from two sources', async () => {
    const agent = await world.addAgent();
    const replica = await world.addReadyReplica(agent.id);
    const answers = await Promise.all([
      world.notice(agent, { atMs: 1 }),
      world.notice(agent, { atMs: 1 }),
      world.notice(agent, { atMs: 2, source: 'eventbridge' }),
      world.notice(agent, { kind: 'rebalance', atMs: 3 }),
    ]);
    const promoted = answers.filter((one) => one.action === 'promoted');
    expect(new Set(promoted.map((one) => `${one.primary} ${one.epoch}`))).toEqual(new Set([`${replica} 1`]));
    expect(await world.database.primaries(agent.id)).toEqual([replica]);
    const [row] = await world.database.rows('SELECT epoch FROM agents WHERE id = ?', agent.id);
    expect(row).toMatchObject({ epoch: 1 });
    expect((await world.events(agent.id)).filter((type) => type === 'instance_promoted')).toHaveLength(1);
  });

  it('without a replica races launches, promotes the first that is ready and ends the others', async () => {
    const agent = await world.addAgent();
    const answer = await world.notice(agent);
    expect(answer).toMatchObject({ action: 'preparing', replicaId: expect.stringMatching(/^rep-/) });
    await world.until('three replicas are launched', agent.id, async () => {
      return Object.keys(await world.cloud(agent.id)).length === 4;
    });
    const [winner] = await world.database.rows(
      'SELECT id, instance_id AS instance FROM replica_instances WHERE agent_id = ? AND instance_id IS NOT NULL ORDER BY id LIMIT 1',
      agent.id,
    );
    await world.database.run(
      "UPDATE replica_instances SET status = 'ready', last_sync_at = UTC_TIMESTAMP(3) WHERE id = ?",
      String(winner?.['id']),
    );
    const instance = String(winner?.['instance']);
    await world.until('the winner is PRIMARY', agent.id, () => primaryIs(agent.id, instance));
    await world.until('the losers are ended', agent.id, async () => {
      const states = Object.entries(await world.cloud(agent.id));
      const running = states.filter(([, state]) => state === 'running').map(([id]) => id);
      return running.length === 2 && running.includes(instance) && running.includes(agent.primary);
    });
    await world.until('their rows are closed', agent.id, async () => {
      const statuses = Object.values(await world.statuses(agent.id)).toSorted();
      return JSON.stringify(statuses) === '["running_primary","terminated","terminated","zombie"]';
    });
  });

  it('goes on in another pool when the first has no capacity', async () => {
    const agent = await world.addAgent();
    await world.ec2.behave({
      capacity: [{ instanceType: '*', az: 'us-east-1b', code: 'InsufficientInstanceCapacity' }],
    });
    await world.notice(agent);
    await world.until('replicas run elsewhere', agent.id, async () => {
      return Object.keys(await world.cloud(agent.id)).length >= 3;
    });
    await world.until('the failed launch is written down', agent.id, async () => {
      return (await world.events(agent.id)).includes('launch_failed');
    });
    await world.reportReady(agent.id);
    await world.until(
      'a replica is PRIMARY',
      agent.id,
      async () => !(await primaryIs(agent.id, agent.primary)),
    );
  });

  it('for an instance that was replaced already changes nothing', async () => {
    const agent = await world.addAgent();
    const replica = await world.addReadyReplica(agent.id);
    await world.notice(agent);
    const late = await world.notice(agent, { atMs: 99 });
    expect(late).toMatchObject({ effect: 'past', action: 'none', primary: replica });
  });

  it('leaves a reclaimed PRIMARY a zombie until EC2 says that it is terminated', async () => {
    const agent = await world.addAgent();
    await world.addReadyReplica(agent.id);
    await world.notice(agent);
    await world.ec2.announce(agent.primary, 'termination', 0);
    await world.until('EC2 has ended it', agent.id, async () => {
      return (await world.cloud(agent.id))[agent.primary] === 'terminated';
    });
    await world.wake(agent.id);
    await world.until('its row is closed', agent.id, async () => {
      return (await world.statuses(agent.id))[agent.primary] === 'terminated';
    });
    expect(await world.events(agent.id)).toContain('instance_terminated');
  });
});

describe('a recommendation to rebalance', () => {
  it('prepares a replica in another pool, and a termination notice then promotes it', async () => {
    const agent = await world.addAgent();
    const answer = await world.notice(agent, { kind: 'rebalance' });
    expect(answer).toMatchObject({ effect: 'new', action: 'preparing', deadlineMs: null });
    await world.until('the replica is launched', agent.id, async () => {
      const [row] = await world.database.rows(
        'SELECT instance_id AS instance, az FROM replica_instances WHERE id = ?',
        answer.replicaId ?? '',
      );
      return row?.['instance'] != null && row['az'] !== 'us-east-1a';
    });
    expect(await world.database.primaries(agent.id)).toEqual([agent.primary]);
    await world.reportReady(agent.id);
    const stopping = await world.notice(agent);
    expect(stopping).toMatchObject({ action: 'promoted', replicaId: answer.replicaId });
  });

  it('moves by itself when auto-switch is on', async () => {
    const agent = await world.addAgent({ auto_switch_enabled: 1 });
    const { replicaId } = await world.notice(agent, { kind: 'rebalance' });
    await world.until('the replica is launched', agent.id, async () => {
      const [row] = await world.database.rows(
        'SELECT instance_id AS instance FROM replica_instances WHERE id = ?',
        replicaId ?? '',
      );
      return row?.['instance'] != null;
    });
    await world.reportReady(agent.id);
    await world.wake(agent.id);
    await world.until(
      'the replica is PRIMARY',
      agent.id,
      async () => !(await primaryIs(agent.id, agent.primary)),
    );
  });
});
