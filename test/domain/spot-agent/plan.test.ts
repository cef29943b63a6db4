import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgePlan } from '../../../workflows/shared/guards.ts';
import { hashPlan } from '../../../workflows/shared/plan.ts';
import { GUARDS } from '../../../workflows/spot-agent/domain/guards.ts';
import {
  isSamePool,
  primaryOf,
  type SpotObservation,
} from '../../../workflows/spot-agent/domain/observation.ts';
import { planSpotAgent } from '../../../workflows/spot-agent/domain/plan.ts';
import { openReplicas } from '../../../workflows/spot-agent/domain/readiness.ts';
import { stateOf } from '../../../workflows/spot-agent/domain/states.ts';
import {
  ago,
  rebalance,
  sampleAgent,
  sampleCloud,
  sampleInstance,
  sampleObservation,
  sampleReplica,
} from './sample-observation.ts';

const RUNS = { numRuns: 1_000 };

const pool = fc.constantFrom(
  { instanceType: 'm5.large', az: 'us-east-1a' },
  { instanceType: 'm5.large', az: 'us-east-1b' },
  { instanceType: 'c5.large', az: 'us-east-1a' },
);
const seconds = fc.constantFrom(1, 30, 61, 121, 200, 400, 2_000, 4_000_000).map(ago);
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });

const instance = fc
  .record({
    pool,
    status: fc.constantFrom(
      'launching',
      'running_replica',
      'promoting',
      'terminating',
      'zombie',
      'terminated',
    ),
    createdAtMs: seconds,
    retiredAtMs: maybe(seconds),
    interruptedAtMs: maybe(seconds),
  } as const)
  .map(({ pool: where, ...row }) => sampleInstance({ ...row, ...where }));

const replica = fc
  .record({
    pool,
    status: fc.constantFrom('launching', 'syncing', 'ready', 'promoted', 'failed', 'terminated'),
    emergency: fc.boolean(),
    createdAtMs: seconds,
    lastSyncMs: maybe(seconds),
    error: maybe(fc.constant('no space')),
  } as const)
  .map(({ pool: where, ...row }) => sampleReplica({ ...row, ...where }));

const cloud = fc
  .record({
    state: fc.constantFrom('pending', 'running', 'stopping', 'stopped', 'shutting-down', 'terminated'),
    replica: maybe(fc.constantFrom('rep-0', 'rep-1', 'rep-9')),
    launchedAtMs: seconds,
  } as const)
  .map((row) => sampleCloud(row));

/** Anything that rows and EC2 could say, however little of it agrees. */
const observation: fc.Arbitrary<SpotObservation> = fc
  .record({
    primary: maybe(pool),
    instances: fc.array(instance, { maxLength: 4 }),
    replicas: fc.array(fc.tuple(replica, fc.boolean()), { maxLength: 4 }),
    cloud: maybe(fc.array(fc.tuple(cloud, fc.nat(9)), { maxLength: 6 })),
    notice: maybe(
      fc.record({
        kind: fc.constantFrom('rebalance', 'termination'),
        instanceId: fc.constantFrom('i-primary', 'i-1'),
        receivedAtMs: seconds,
        deadlineMs: seconds.map((atMs) => atMs + 120_000),
      } as const),
    ),
    autoSwitch: fc.boolean(),
    manualReplica: fc.boolean(),
    autoTerminate: fc.boolean(),
    switchTarget: maybe(fc.constantFrom('i-1', 'i-primary', 'i-nowhere')),
  })
  .map(({ primary, instances, replicas, cloud: seen, notice, ...agent }) => ({
    nowMs: ago(0),
    agent: sampleAgent({ ...agent, manualReplica: agent.manualReplica && !agent.autoSwitch, notice }),
    instances: [
      ...(primary === null ? [] : [sampleInstance(primary)]),
      ...instances.map((one, at) => ({ ...one, id: `i-${at}` })),
    ],
    replicas: replicas.map(([one, launched], at) => ({
      ...one,
      id: `rep-${at}`,
      instanceId: launched || one.status === 'ready' ? `i-${at}` : null,
    })),
    cloud:
      seen === null
        ? null
        : {
            instances: seen.map(([one, at]) => ({ ...one, id: at > 5 ? 'i-primary' : `i-${at}` })),
            prices: [],
          },
  }));

/** Plans, and leaves out the steps that a guard holds back. */
function allowedSteps(observed: SpotObservation) {
  const plan = planSpotAgent(observed);
  const { blocked } = judgePlan(GUARDS, observed, plan);
  return blocked.length > 0 ? [] : plan.steps;
}

describe('a plan for whatever is observed', () => {
  it('never ends the PRIMARY', () => {
    fc.assert(
      fc.property(observation, (observed) => {
        const ended = allowedSteps(observed).flatMap((one) =>
          one.kind === 'TerminateInstance' || one.kind === 'CloseInstance' ? [one.instance] : [],
        );
        expect(ended).not.toContain(primaryOf(observed)?.id ?? 'none');
      }),
      RUNS,
    );
  });

  it('never ends a replica that is not closed in the same plan', () => {
    fc.assert(
      fc.property(observation, (observed) => {
        const steps = allowedSteps(observed);
        for (const step of steps) {
          if (step.kind !== 'TerminateInstance') continue;
          const row = observed.instances.find((one) => one.id === step.instance);
          const closed = steps.some((one) => one.kind === 'CloseReplica' && one.instance === step.instance);
          expect(row === undefined || stateOf(row.status) !== 'REPLICA' || closed).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it('ends nothing, and closes nothing by absence, while EC2 cannot be asked', () => {
    fc.assert(
      fc.property(observation, (observed) => {
        const open = new Set(openReplicas(observed).map((one) => one.instanceId));
        const ended = allowedSteps({ ...observed, cloud: null }).filter(
          (one) =>
            (one.kind === 'TerminateInstance' && !open.has(one.instance)) || one.kind === 'AdoptInstance',
        );
        expect(ended).toEqual([]);
      }),
      RUNS,
    );
  });

  it('promotes one instance at most, on the epoch that was seen', () => {
    fc.assert(
      fc.property(observation, (observed) => {
        const promotions = allowedSteps(observed).flatMap((one) => (one.kind === 'Promote' ? [one] : []));
        expect(promotions.length).toBeLessThanOrEqual(1);
        for (const one of promotions) {
          expect(one.epoch).toBe(observed.agent.epoch);
          expect(openReplicas(observed).map((each) => each.instanceId)).toContain(one.instance);
        }
      }),
      RUNS,
    );
  });

  it('promotes a healthy replica wherever no row is PRIMARY and one runs', () => {
    fc.assert(
      fc.property(observation, (anything) => {
        const heir = sampleReplica({ id: 'rep-heir', instanceId: 'i-heir' });
        const observed = {
          ...anything,
          instances: [
            ...anything.instances.filter((one) => one.status !== 'running_primary'),
            sampleInstance({ id: 'i-heir', status: 'running_replica' }),
          ],
          replicas: [...anything.replicas, heir],
        };
        const [first] = allowedSteps(observed);
        expect(first).toMatchObject({ kind: 'Promote', epoch: observed.agent.epoch });
      }),
      RUNS,
    );
  });

  it('never launches where the PRIMARY runs, and never two replicas of one id', () => {
    fc.assert(
      fc.property(observation, (observed) => {
        const primary = primaryOf(observed);
        const known = new Set(observed.replicas.map((one) => one.id));
        const launches = planSpotAgent(observed).steps.flatMap((one) =>
          one.kind === 'LaunchReplica' ? [one] : [],
        );
        const fresh = launches.filter((one) => !known.has(one.replica));
        expect(fresh.some((one) => primary !== null && isSamePool(one, primary))).toBe(false);
        expect(new Set(launches.map((one) => one.replica)).size).toBe(launches.length);
      }),
      RUNS,
    );
  });

  it('is the same for the same observation', () => {
    fc.assert(
      fc.property(observation, (observed) => {
        const hash = (): string => hashPlan('spot-agent', 'acme/agent-1', planSpotAgent(observed));
        expect(hash()).toBe(hash());
      }),
      RUNS,
    );
  });
});

describe('a switch to a replica that is not healthy', () => {
  const unready = sampleReplica({ status: 'syncing', emergency: true });
  const switching = (change: Parameters<typeof sampleObservation>[0]): SpotObservation =>
    sampleObservation({
      replicas: [unready],
      ...change,
      agent: { switchTarget: unready.instanceId, ...change?.agent },
    });

  it('is held back by the guard, and the replica that it is for is kept', () => {
    const observed = switching({});
    const plan = planSpotAgent(observed);
    expect(plan).toMatchObject({ operation: 'fail-over', steps: [{ kind: 'Promote' }] });
    expect(judgePlan(GUARDS, observed, plan).blocked).toMatchObject([{ guard: 'HeirHealthy' }]);
  });

  it('keeps no zombie from being ended, and no recommendation from being followed', () => {
    const zombie = sampleInstance({ id: 'i-old', status: 'zombie', retiredAtMs: ago(400) });
    const retiring = switching({
      agent: { autoTerminate: true },
      instances: [sampleInstance(), sampleInstance({ id: 'i-replica', status: 'launching' }), zombie],
    });
    expect(planSpotAgent(retiring).operation).toBe('retire-instance');
    const heir = sampleReplica({ id: 'rep-2', instanceId: 'i-heir', az: 'us-east-1c' });
    const recommended = switching({
      agent: { autoSwitch: true, notice: rebalance() },
      replicas: [unready, heir],
    });
    expect(planSpotAgent(recommended)).toMatchObject({
      operation: 'fail-over',
      steps: [{ kind: 'Promote', instance: 'i-heir' }],
    });
  });
});
