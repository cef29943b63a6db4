import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noMutationHook } from '../../../activities/mutations.ts';
import { scheduleFleetSweep } from '../../../starter/http/spot/fleet-sweep.ts';
import { createSpotActivities } from '../../../worker/activities.ts';
import { TASK_QUEUE } from '../../../workflows/shared/messages.ts';
import type { Port } from '../../../workflows/shared/port.ts';
import { FLEET_SWEEP_WORKFLOW, type SpotTypes } from '../../../workflows/spot-agent/contract.ts';
import { sweepFleet, type FleetReport } from '../../../workflows/spot-agent/operations/sweep-fleet.ts';
import { SpotWorld } from './spot-world.ts';

const LATER_MS = 10 * 60_000;

let world: SpotWorld;
let systems: ReturnType<typeof createSpotActivities>;
beforeAll(async () => {
  world = await SpotWorld.open();
  systems = createSpotActivities(world.database.url, noMutationHook, { ec2Url: world.ec2.url });
});
afterAll(async () => {
  await systems.close();
  await world.close();
});

/** The sweep as it would be in ten minutes, when nothing is too young to be judged any more. */
function sweepLater(): Promise<FleetReport> {
  const { activities } = systems;
  const later: SpotTypes['activities'] = {
    ...activities,
    async readSpotRemembrance(input) {
      const remembered = await activities.readSpotRemembrance(input);
      return { ...remembered, nowMs: remembered.nowMs + LATER_MS };
    },
  };
  const port: Pick<Port<SpotTypes['activities']>, 'act' | 'wait' | 'workflowId'> = {
    workflowId: 'sweep',
    act: () => later,
    wait: () => later,
  };
  return sweepFleet(port);
}

const forget = (agent: string): Promise<void> => world.database.run('DELETE FROM agents WHERE id = ?', agent);

const orphanEvents = async (agent: string): Promise<readonly string[]> =>
  (await world.events(agent)).filter((type) => type.startsWith('orphan_'));

describe('a sweep of the fleet', () => {
  it('ends the replica of an agent whose row is gone, and only reports its PRIMARY', async () => {
    const agent = await world.addAgent();
    const replica = await world.addReadyReplica(agent.id);
    await forget(agent.id);
    const report = await sweepLater();
    expect(report.terminated).toEqual([replica]);
    expect(report.reported).toContain(agent.primary);
    expect(await world.cloud(agent.id)).toEqual({ [agent.primary]: 'running', [replica]: 'terminated' });
    expect(await world.statuses(agent.id)).toMatchObject({ [replica]: 'terminated' });
    expect((await orphanEvents(agent.id)).toSorted()).toEqual(['orphan_found', 'orphan_terminating']);
  });

  it('leaves alone what another database launched, and what has an agent', async () => {
    const agent = await world.addAgent();
    const replica = await world.addReadyReplica(agent.id);
    const { instanceId } = await world.ec2.activities.launchEc2Instance(world.ec2.launchOf('elsewhere'));
    const report = await sweepLater();
    expect(report.terminated).toEqual([]);
    expect(report.reported).toContain(instanceId);
    expect(report.reported).not.toContain(replica);
    expect(await world.cloud('elsewhere')).toEqual({ [instanceId]: 'running' });
    expect(await world.cloud(agent.id)).toEqual({ [agent.primary]: 'running', [replica]: 'running' });
  });

  it('reports each once, however often it finds it', async () => {
    const agent = await world.addAgent();
    await forget(agent.id);
    await sweepLater();
    await sweepLater();
    expect(await orphanEvents(agent.id)).toEqual(['orphan_found']);
  });

  it('is started by a schedule, which may be made any number of times', async () => {
    await scheduleFleetSweep(world.client);
    await scheduleFleetSweep(world.client);
    const { action } = await world.client.schedule.getHandle('spot-agent-fleet-sweep').describe();
    expect(action).toMatchObject({ workflowType: FLEET_SWEEP_WORKFLOW });
    const report = await world.client.workflow.execute(FLEET_SWEEP_WORKFLOW, {
      workflowId: 'sweep-now',
      taskQueue: TASK_QUEUE,
    });
    expect(report).toMatchObject({ terminated: [] });
    await world.client.schedule.getHandle('spot-agent-fleet-sweep').delete();
  });
});
