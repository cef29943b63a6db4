import { describe, expect, it } from 'vitest';
import { refuseConfiguration } from '../../../workflows/spot-agent/domain/configuration.ts';
import {
  judgeRegistration,
  type RegistrationClaim,
  type RegistrationRows,
} from '../../../workflows/spot-agent/domain/registration.ts';
import { sampleAgent } from './sample-observation.ts';

const claim: RegistrationClaim = { clientId: 'acme', instanceId: 'i-1', isPrimary: true, epoch: null };
const agent = { id: 'agent-1', clientId: 'acme', epoch: 5 };
const nothing: RegistrationRows = { agent: null, instance: null, replica: null, primary: null };

describe('a registration', () => {
  it.each([
    ['the first of an agent', {}, {}, 'new-primary'],
    ['an agent that has lost its PRIMARY', {}, { agent }, 'new-primary'],
    [
      'the PRIMARY itself, again',
      {},
      { agent, instance: { agentId: 'agent-1', status: 'running_primary' }, primary: 'i-1' },
      'same-primary',
    ],
    [
      'the PRIMARY with the epoch that it was promoted with',
      { epoch: 5 },
      { agent, instance: { agentId: 'agent-1', status: 'running_primary' }, primary: 'i-1' },
      'same-primary',
    ],
    [
      'a replica that was launched for the agent',
      { isPrimary: false },
      { agent, replica: { agentId: 'agent-1', status: 'launching' }, primary: 'i-0' },
      'replica',
    ],
  ] as const)('is accepted of %s', (_, change, rows, is) => {
    expect(judgeRegistration({ ...claim, ...change }, { ...nothing, ...rows })).toMatchObject({ is });
  });

  it.each([
    ['Zombie', {}, { agent, instance: { agentId: 'agent-1', status: 'zombie' }, primary: 'i-0' }],
    ['Zombie', {}, { agent, instance: { agentId: 'agent-1', status: 'terminating' }, primary: 'i-0' }],
    ['Terminated', {}, { agent, instance: { agentId: 'agent-1', status: 'terminated' } }],
    ['Terminated', {}, { agent, replica: { agentId: 'agent-1', status: 'failed' }, primary: 'i-0' }],
    ['NotPrimary', { isPrimary: false }, { agent, primary: 'i-0' }],
    ['NotPrimary', { isPrimary: false }, {}],
    ['VersionConflict', {}, { agent, primary: 'i-0' }],
    ['VersionConflict', { epoch: 4 }, { agent }],
    [
      'VersionConflict',
      { epoch: 6 },
      { agent, instance: { agentId: 'agent-1', status: 'running_primary' }, primary: 'i-1' },
    ],
    ['OtherAgent', {}, { agent, instance: { agentId: 'agent-2', status: 'running_primary' } }],
    ['OtherAgent', {}, { agent: null, replica: { agentId: 'agent-2', status: 'ready' } }],
  ] as const)('is rejected by %s (%o %o)', (guard, change, rows) => {
    expect(judgeRegistration({ ...claim, ...change }, { ...nothing, ...rows })).toMatchObject({
      is: 'rejected',
      guard,
    });
  });

  it('names the epoch in a version conflict', () => {
    expect(judgeRegistration(claim, { ...nothing, agent, primary: 'i-0' })).toMatchObject({
      reason: 'version conflict: i-0 is PRIMARY with epoch 5',
    });
  });
});

describe('a configuration', () => {
  const { launch } = sampleAgent();
  const good = {
    autoSwitch: true,
    manualReplica: false,
    autoTerminate: true,
    terminateWaitSeconds: 0,
    launch,
  };

  it('can be auto-switch, or manual replica, or neither', () => {
    expect(refuseConfiguration(good)).toBeNull();
    expect(refuseConfiguration({ ...good, autoSwitch: false, manualReplica: true })).toBeNull();
    expect(refuseConfiguration({ ...good, autoSwitch: false, launch: null })).toBeNull();
  });

  it.each([
    [{ manualReplica: true }, 'Auto-switch and manual replica are mutually exclusive'],
    [{ terminateWaitSeconds: -1 }, 'terminate_wait_seconds must be a whole number from 0'],
    [{ terminateWaitSeconds: 1.5 }, 'terminate_wait_seconds must be a whole number from 0'],
    [{ terminateWaitSeconds: 1e9 }, 'turn auto_terminate off instead'],
    [{ launch: null }, 'replicas need launch.image_id'],
  ])('is refused with %o', (change, words) => {
    expect(refuseConfiguration({ ...good, ...change })).toEqual({
      code: 'INVALID_CONFIGURATION',
      message: expect.stringContaining(words),
    });
  });
});
