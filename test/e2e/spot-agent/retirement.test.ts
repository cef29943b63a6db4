import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SpotWorld } from './spot-world.ts';

let world: SpotWorld;
beforeAll(async () => {
  world = await SpotWorld.open();
});
afterAll(() => world.close());

describe('an instance that was replaced', () => {
  it('is terminated and then closed when auto_terminate is on and its wait is over', async () => {
    const agent = await world.addAgent({ auto_terminate_enabled: 1, terminate_wait_seconds: 1 });
    const replica = await world.addReadyReplica(agent.id);
    await world.database.run(
      'UPDATE agents SET switch_target = ?, generation = generation + 1 WHERE id = ?',
      replica,
      agent.id,
    );
    await world.wake(agent.id);
    await world.until('the old PRIMARY is closed', agent.id, async () => {
      return (await world.statuses(agent.id))[agent.primary] === 'terminated';
    });
    expect(await world.database.primaries(agent.id)).toEqual([replica]);
    expect(await world.cloud(agent.id)).toEqual({ [agent.primary]: 'terminated', [replica]: 'running' });
    const events = await world.events(agent.id);
    expect(events.indexOf('instance_promoted')).toBeLessThan(events.indexOf('instance_terminating'));
    expect(events.indexOf('instance_terminating')).toBeLessThan(events.indexOf('instance_terminated'));
  });

  it('is kept while auto_terminate is off', async () => {
    const agent = await world.addAgent();
    await world.addReadyReplica(agent.id);
    await world.notice(agent);
    await world.wake(agent.id);
    await world.until('the agent serves again', agent.id, async () => {
      const { phase, operation } = await world.status(agent.id);
      return phase === 'Serving' && operation === null;
    });
    expect(await world.statuses(agent.id)).toMatchObject({ [agent.primary]: 'zombie' });
    expect(await world.cloud(agent.id)).toMatchObject({ [agent.primary]: 'running' });
  });
});

describe('a sweep', () => {
  it('ends an instance that was leaked, and nothing else', async () => {
    const agent = await world.addAgent();
    // A row that says terminated is as good as none, and needs no wait for what EC2 may not have heard of.
    const instanceId = await world.addLeak(agent.id);
    await world.wake(agent.id);
    await world.until('the leak is ended', agent.id, async () => {
      return (await world.cloud(agent.id))[instanceId] === 'terminated';
    });
    expect(await world.cloud(agent.id)).toMatchObject({ [agent.primary]: 'running' });
    expect(await world.events(agent.id)).toContain('instance_terminating');
  });

  it('adopts an instance whose launch was never written down', async () => {
    const agent = await world.addAgent();
    const launch = world.ec2.launchOf(agent.id);
    await world.database.run(
      `INSERT INTO replica_instances (id, client_id, agent_id, instance_type, az, status, emergency)
       VALUES (?, 'acme', ?, 'm5.large', 'us-east-1b', 'launching', FALSE)`,
      launch.replica,
      agent.id,
    );
    const { instanceId } = await world.ec2.activities.launchEc2Instance(launch);
    await world.wake(agent.id);
    await world.until('the replica has its instance', agent.id, async () => {
      const [row] = await world.database.rows(
        'SELECT instance_id AS instance FROM replica_instances WHERE id = ?',
        launch.replica,
      );
      return row?.['instance'] === instanceId;
    });
    expect(Object.keys(await world.cloud(agent.id))).toHaveLength(2);
  });

  it('closes the row of a replica that EC2 does not have', async () => {
    const agent = await world.addAgent();
    const replica = await world.addReadyReplica(agent.id);
    await world.ec2.activities.terminateEc2Instance({
      region: 'us-east-1',
      agentId: agent.id,
      instanceId: replica,
      knownSinceMs: 0,
    });
    await world.until('EC2 has ended it', agent.id, async () => {
      return (await world.cloud(agent.id))[replica] === 'terminated';
    });
    await world.wake(agent.id);
    await world.until('its row is closed', agent.id, async () => {
      return (await world.statuses(agent.id))[replica] === 'terminated';
    });
    expect(await world.database.primaries(agent.id)).toEqual([agent.primary]);
  });
});
