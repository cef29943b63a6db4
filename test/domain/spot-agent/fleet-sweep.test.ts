import { describe, expect, it } from 'vitest';
import { failure } from '../../../workflows/shared/failures.ts';
import type { SpotTypes } from '../../../workflows/spot-agent/contract.ts';
import type { TaggedInstance } from '../../../workflows/spot-agent/domain/orphans.ts';
import { sweepFleet } from '../../../workflows/spot-agent/operations/sweep-fleet.ts';
import { createSimulatedActivities } from '../../simulation/spot-agent/activities.ts';
import { SpotSimulation } from '../../simulation/spot-agent/world.ts';

type Activities = SpotTypes['activities'];

const REGIONS = ['eu-west-1', 'us-east-1'];
const HOUR_MS = 3_600_000;

const orphan = (id: string): TaggedInstance => ({
  id,
  agentId: 'agent-gone',
  clientId: 'acme',
  replica: `rep-${id}`,
  launchedAtMs: 0,
});

/** Two regions with an orphan of ours in each, and what a test changes of it. */
function fleet(change: Partial<Activities>) {
  const events: string[] = [];
  const ended: string[] = [];
  const activities: Activities = {
    ...createSimulatedActivities(new SpotSimulation(0)),
    readSpotRegions: async () => REGIONS,
    observeTaggedEc2Instances: async ({ region }) => [orphan(`i-${region}`)],
    readSpotRemembrance: async ({ instanceIds, replicaIds }) => ({
      nowMs: HOUR_MS,
      agents: [],
      instances: instanceIds.map((id) => ({ id, agentId: 'agent-gone', isPrimary: false })),
      replicas: replicaIds.map((id) => ({ id, agentId: 'agent-gone' })),
    }),
    terminateEc2Instance: async ({ instanceId }) => {
      ended.push(instanceId);
      return { state: 'shutting-down' };
    },
    recordSpotEvent: async ({ type, message }) => void events.push(`${type}: ${message}`),
    ...change,
  };
  const port = { workflowId: 'sweep', act: () => activities, wait: () => activities };
  return { port, events, ended };
}

describe('a sweep of a fleet of which a part fails', () => {
  it('goes on with the other regions, and says which one it could not look at', async () => {
    const { port, events, ended } = fleet({
      async observeTaggedEc2Instances({ region }) {
        if (region === 'eu-west-1') throw failure('Ec2Unavailable', 'it does not answer');
        return [orphan(`i-${region}`)];
      },
    });
    const report = await sweepFleet(port);
    expect(report.failed).toEqual([{ at: 'eu-west-1', reason: 'Ec2Unavailable: it does not answer' }]);
    expect(report.terminated).toEqual(['i-us-east-1']);
    expect(ended).toEqual(['i-us-east-1']);
    expect(events[0]).toBe('sweep_failed: eu-west-1 could not be swept: Ec2Unavailable: it does not answer');
  });

  it('goes on with the other instances when one cannot be ended', async () => {
    const { port } = fleet({
      async observeTaggedEc2Instances({ region }) {
        return [orphan(`i-${region}-1`), orphan(`i-${region}-2`)];
      },
      async terminateEc2Instance({ instanceId }) {
        if (instanceId.endsWith('-1')) throw failure('Ec2NotOurs', 'its tags are gone');
        return { state: 'shutting-down' };
      },
    });
    const report = await sweepFleet(port);
    expect(report.terminated).toEqual(['i-eu-west-1-2', 'i-us-east-1-2']);
    expect(report.failed.map((one) => one.at)).toEqual(['i-eu-west-1-1', 'i-us-east-1-1']);
  });

  it('hides no defect, and ends when it is cancelled', async () => {
    for (const error of [new TypeError('a defect'), failure('Cancelled', 'asked for')]) {
      const { port } = fleet({ observeTaggedEc2Instances: () => Promise.reject(error) });
      await expect(sweepFleet(port)).rejects.toBe(error);
    }
  });
});
