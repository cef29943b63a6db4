import { describe, expect, it } from 'vitest';
import { renderPlan } from '../../../starter/cli/render/plan-text.ts';
import { judgePlan } from '../../../workflows/shared/guards.ts';
import { envelope } from '../../../workflows/shared/plan.ts';
import { GUARDS } from '../../../workflows/spot-agent/domain/guards.ts';
import type { SpotObservation } from '../../../workflows/spot-agent/domain/observation.ts';
import { planSpotAgent } from '../../../workflows/spot-agent/domain/plan.ts';
import {
  ago,
  rebalance,
  sampleCloud,
  sampleInstance,
  sampleObservation,
  sampleReplica,
  termination,
} from '../../domain/spot-agent/sample-observation.ts';

const zombie = sampleInstance({ id: 'i-old', status: 'zombie', retiredAtMs: ago(301) });

const STORIES: Readonly<Record<string, SpotObservation>> = {
  'nothing to do': sampleObservation({ replicas: [] }),
  'promote a ready replica under a termination notice': sampleObservation({
    agent: { notice: termination() },
    replicas: [sampleReplica()],
  }),
  'race launches under a termination notice without a replica': sampleObservation({
    agent: { notice: termination() },
  }),
  'wait for a replica that was begun before the notice': sampleObservation({
    agent: { notice: termination() },
    replicas: [sampleReplica({ status: 'syncing', createdAtMs: ago(30) })],
  }),
  'launch what is only a row': sampleObservation({
    agent: { notice: termination() },
    replicas: [sampleReplica({ status: 'launching', instanceId: null, emergency: true })],
  }),
  'prepare a replica for a recommendation': sampleObservation({ agent: { notice: rebalance() } }),
  'move on a recommendation when auto-switch is on': sampleObservation({
    agent: { notice: rebalance(), autoSwitch: true },
    replicas: [sampleReplica()],
  }),
  'let a recommendation expire': sampleObservation({
    agent: { notice: rebalance({ receivedAtMs: ago(1_800) }) },
  }),
  'retire the replica of a recommendation that expired': sampleObservation({
    replicas: [sampleReplica({ emergency: true })],
  }),
  'forget a notice whose instance is not PRIMARY any more': sampleObservation({
    agent: { notice: termination({ instanceId: 'i-old' }) },
    instances: [sampleInstance(), { ...zombie, interruptedAtMs: ago(60) }],
  }),
  'switch to a replica that a person named': sampleObservation({
    agent: { switchTarget: 'i-replica' },
    replicas: [sampleReplica()],
  }),
  'refuse a switch to a replica that has not synced': sampleObservation({
    agent: { switchTarget: 'i-replica' },
    replicas: [sampleReplica({ lastSyncMs: ago(90) })],
  }),
  'keep one replica in manual mode': sampleObservation({ agent: { manualReplica: true } }),
  'terminate a zombie whose wait is over': sampleObservation({
    agent: { autoTerminate: true },
    instances: [sampleInstance(), zombie],
  }),
  'close the row of a zombie that AWS has ended': sampleObservation({
    instances: [sampleInstance(), zombie],
    cloud: { instances: [sampleCloud(), sampleCloud({ id: 'i-old', state: 'terminated' })], prices: [] },
  }),
  'end an instance that was leaked': sampleObservation({
    cloud: { instances: [sampleCloud(), sampleCloud({ id: 'i-leaked' })], prices: [] },
  }),
  'promote a ready replica where no row is PRIMARY': sampleObservation({
    instances: [sampleInstance({ id: 'i-replica', status: 'running_replica' })],
    replicas: [sampleReplica({ emergency: true })],
  }),
  'launch where no row is PRIMARY and no replica is left': sampleObservation({ instances: [] }),
  'replace a PRIMARY that EC2 has ended without a notice': sampleObservation({
    replicas: [sampleReplica()],
    cloud: {
      instances: [sampleCloud({ state: 'terminated' }), sampleCloud({ id: 'i-replica' })],
      prices: [],
    },
  }),
};

describe('a plan reads as prose', () => {
  it.each(Object.entries(STORIES))('%s', async (name, observed) => {
    const plan = planSpotAgent(observed);
    const text = renderPlan(envelope('spot-agent', 'acme/agent-1', plan, judgePlan(GUARDS, observed, plan)));
    await expect(text).toMatchFileSnapshot(`testdata/${name.replaceAll(' ', '-')}.txt`);
  });
});
