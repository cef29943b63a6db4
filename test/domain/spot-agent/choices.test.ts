import { describe, expect, it } from 'vitest';
import { planForDeadline } from '../../../workflows/spot-agent/domain/deadline.ts';
import type { SpotObservation } from '../../../workflows/spot-agent/domain/observation.ts';
import { planSpotAgent } from '../../../workflows/spot-agent/domain/plan.ts';
import { rankPools } from '../../../workflows/spot-agent/domain/pools.ts';
import { isSilent } from '../../../workflows/spot-agent/domain/readiness.ts';
import { planRebalance } from '../../../workflows/spot-agent/domain/rebalance.ts';
import { planRetirement } from '../../../workflows/spot-agent/domain/retirement.ts';
import { sweep } from '../../../workflows/spot-agent/domain/sweep.ts';
import { nextWakeMs } from '../../../workflows/spot-agent/domain/wake.ts';
import {
  ago,
  NOW_MS,
  rebalance,
  sampleAgent,
  sampleCloud,
  sampleInstance,
  sampleObservation,
  sampleReplica,
  termination,
} from './sample-observation.ts';

const DAY_S = 86_400;

describe('the pools for a replica', () => {
  it('are ranked by price, never with the PRIMARY’s type and zone together', () => {
    const { chosen, refused } = rankPools(sampleObservation());
    expect(chosen.map((one) => one.reason)).toEqual([
      'c5.large/us-east-1a: $0.03 an hour',
      'm5.large/us-east-1b: $0.04 an hour',
      'r5.large/us-east-1c: $0.05 an hour',
    ]);
    expect(refused).toEqual([
      {
        instanceType: 'm5.large',
        az: 'us-east-1a',
        reason: 'the PRIMARY runs there: AWS takes back a type and zone together',
      },
    ]);
  });

  it('leave out one that failed a moment ago, and take it again later', () => {
    const failed = { status: 'failed', error: 'InsufficientInstanceCapacity', instanceId: null } as const;
    const fresh = sampleObservation({ replicas: [sampleReplica({ ...failed, createdAtMs: ago(10) })] });
    expect(rankPools(fresh).chosen[0]).toMatchObject({ instanceType: 'm5.large', az: 'us-east-1b' });
    expect(rankPools(fresh).refused[1]?.reason).toContain('InsufficientInstanceCapacity');
    const old = sampleObservation({ replicas: [sampleReplica({ ...failed, createdAtMs: ago(600) })] });
    expect(rankPools(old).chosen[0]).toMatchObject({ instanceType: 'c5.large' });
  });

  it('take one that was interrupted within the hour later, and say so', () => {
    const gone = sampleInstance({
      id: 'i-old',
      instanceType: 'c5.large',
      status: 'zombie',
      interruptedAtMs: ago(60),
    });
    const { chosen } = rankPools(sampleObservation({ instances: [sampleInstance(), gone] }));
    expect(chosen[0]?.reason).toBe('m5.large/us-east-1b: $0.04 an hour');
    expect(chosen.find((one) => one.instanceType === 'c5.large')?.reason).toContain(
      'interrupted 1× within the hour',
    );
  });

  it('are judged without prices when EC2 does not answer', () => {
    expect(rankPools(sampleObservation({ cloud: null })).chosen).toHaveLength(3);
  });
});

describe('a deadline', () => {
  const deadlineMs = NOW_MS + 100_000;

  it('is met by a ready replica, the freshest first', () => {
    const replicas = [
      sampleReplica({ id: 'rep-stale', instanceId: 'i-2', lastSyncMs: ago(50) }),
      sampleReplica({ id: 'rep-fresh', instanceId: 'i-3', lastSyncMs: ago(1) }),
    ];
    expect(planForDeadline(sampleObservation({ replicas }), deadlineMs)).toMatchObject({
      choice: 'ready-replica',
      heir: { id: 'rep-fresh' },
      reason: '100 s are left, and rep-fresh is ready',
    });
  });

  it('is met by a replica that was ready once when no healthy one is there, and says so', () => {
    const replicas = [sampleReplica({ lastSyncMs: ago(90) })];
    expect(planForDeadline(sampleObservation({ replicas }), deadlineMs)).toMatchObject({
      choice: 'ready-replica',
      reason: '100 s are left, and replica rep-1 synced 90 s ago, which is better than nothing',
    });
  });

  it('is met by a replica in launch that comes in time', () => {
    const replicas = [sampleReplica({ status: 'syncing', createdAtMs: ago(40) })];
    expect(planForDeadline(sampleObservation({ replicas }), deadlineMs)).toMatchObject({
      choice: 'replica-in-launch',
    });
  });

  it('is raced for in several pools, one of them at the full price, when nothing else comes in time', () => {
    const choice = planForDeadline(sampleObservation(), deadlineMs);
    expect(choice).toMatchObject({ choice: 'launch-race' });
    expect(choice.choice === 'launch-race' ? choice.pools.map((one) => one.market) : []).toEqual([
      'spot',
      'spot',
      'on-demand',
    ]);
  });

  it('is not raced for again while a race is on', () => {
    const replicas = [1, 2, 3].map((at) =>
      sampleReplica({ id: `rep-${at}`, instanceId: `i-${at}`, status: 'syncing', createdAtMs: ago(100) }),
    );
    expect(planForDeadline(sampleObservation({ replicas }), NOW_MS + 5_000)).toMatchObject({
      choice: 'replica-in-launch',
      reason: '5 s are left, too few, but nothing is faster',
    });
  });

  it('that passed is said to have passed, and does not stop the fail-over', () => {
    const replicas = [sampleReplica()];
    expect(planForDeadline(sampleObservation({ replicas }), ago(7))).toMatchObject({
      choice: 'ready-replica',
      reason: 'the deadline passed 7 s ago, and rep-1 is ready',
    });
  });

  it('cannot be met without a launch configuration, and says so', () => {
    expect(planForDeadline(sampleObservation({ agent: { launch: null } }), deadlineMs)).toEqual({
      choice: 'none',
      reason: '100 s are left, and nothing can be launched: the agent has no launch configuration',
    });
  });
});

describe('a recommendation to rebalance', () => {
  const plan = (change: Parameters<typeof sampleObservation>[0], receivedAtMs = ago(1)): string =>
    planRebalance(sampleObservation(change), receivedAtMs).choice;

  it.each([
    ['prepares a replica first', {}, 'prepare'],
    ['waits for one that is not ready', { replicas: [sampleReplica({ status: 'syncing' })] }, 'await'],
    [
      'promotes a ready one when auto-switch is on',
      { agent: { autoSwitch: true }, replicas: [sampleReplica()] },
      'promote',
    ],
    ['holds a ready one when auto-switch is off', { replicas: [sampleReplica()] }, 'hold'],
    [
      'holds when the cap of moves is reached',
      { agent: { autoSwitch: true, movesMs: [ago(1), ago(2), ago(3), ago(4)] }, replicas: [sampleReplica()] },
      'hold',
    ],
    [
      'prepares another when the only one shares the PRIMARY’s pool',
      { replicas: [sampleReplica({ instanceType: 'm5.large', az: 'us-east-1a' })] },
      'prepare',
    ],
    ['holds when no pool is left', { agent: { launch: null } }, 'hold'],
  ] as const)('%s', (_, change, choice) => {
    expect(plan(change)).toBe(choice);
  });

  it('expires after half an hour, whatever stands ready', () => {
    expect(plan({ agent: { autoSwitch: true }, replicas: [sampleReplica()] }, ago(1_800))).toBe('expire');
  });
});

describe('a zombie', () => {
  const judge = (
    zombie: Parameters<typeof sampleInstance>[0],
    agent = {},
    state: 'running' | 'terminated' = 'running',
  ) => {
    const row = sampleInstance({ id: 'i-old', status: 'zombie', retiredAtMs: ago(10), ...zombie });
    const cloud = { instances: [sampleCloud({ id: 'i-old', state })], prices: [] };
    return planRetirement(sampleObservation({ agent, instances: [row], cloud }), row);
  };

  it('is kept for its retention while auto_terminate is off', () => {
    expect(judge({})).toMatchObject({ do: 'keep', untilMs: ago(10) + 30 * DAY_S * 1000 });
    expect(judge({ retiredAtMs: ago(30 * DAY_S) })).toMatchObject({
      do: 'terminate',
      event: 'RetentionExpired',
    });
  });

  it('is kept for its wait while auto_terminate is on', () => {
    expect(judge({}, { autoTerminate: true })).toMatchObject({ do: 'keep', untilMs: ago(10) + 300_000 });
    expect(judge({ retiredAtMs: ago(300) }, { autoTerminate: true })).toMatchObject({ do: 'terminate' });
    expect(judge({}, { autoTerminate: true, terminateWaitSeconds: 0 })).toMatchObject({ do: 'terminate' });
  });

  it('that AWS takes back is left to AWS, and closed when EC2 says that it is gone', () => {
    const agent = { autoTerminate: true, terminateWaitSeconds: 0 };
    expect(judge({ interruptedAtMs: ago(60) }, agent)).toMatchObject({ do: 'keep' });
    expect(judge({ interruptedAtMs: ago(60) }, agent, 'terminated')).toMatchObject({ do: 'close' });
    expect(judge({ interruptedAtMs: ago(700) }, agent)).toMatchObject({ do: 'terminate' });
  });

  it('is kept when its tags do not say that it is this agent’s', () => {
    const row = sampleInstance({ id: 'i-old', status: 'zombie', retiredAtMs: ago(90 * DAY_S) });
    const cloud = { instances: [sampleCloud({ id: 'i-old', ours: false })], prices: [] };
    expect(planRetirement(sampleObservation({ instances: [row], cloud }), row)).toMatchObject({ do: 'keep' });
  });

  it('is not touched while EC2 cannot be asked after it', () => {
    const row = sampleInstance({ id: 'i-old', status: 'zombie', retiredAtMs: ago(90 * DAY_S) });
    expect(planRetirement(sampleObservation({ instances: [row], cloud: null }), row)).toMatchObject({
      do: 'keep',
    });
  });
});

describe('a sweep', () => {
  const cloudOf = (...instances: readonly ReturnType<typeof sampleCloud>[]) => ({ instances, prices: [] });

  it('finds nothing where rows and instances agree', () => {
    expect(sweep(sampleObservation({ replicas: [sampleReplica()] }))).toEqual([]);
  });

  it.each([
    [
      'an instance that no row knows',
      { cloud: cloudOf(sampleCloud(), sampleCloud({ id: 'i-leaked' })) },
      [{ heal: 'terminate', instance: 'i-leaked' }],
    ],
    [
      'an instance whose row says terminated',
      {
        instances: [sampleInstance(), sampleInstance({ id: 'i-dead', status: 'terminated' })],
      },
      [{ heal: 'terminate', instance: 'i-dead' }],
    ],
    [
      'an instance whose launch was never written down',
      {
        replicas: [sampleReplica({ status: 'launching', instanceId: null })],
        cloud: cloudOf(sampleCloud(), sampleCloud({ id: 'i-new', replica: 'rep-1', launchedAtMs: ago(1) })),
      },
      [{ heal: 'adopt', instance: 'i-new', replica: 'rep-1' }],
    ],
    [
      'a replica whose instance is gone',
      { replicas: [sampleReplica()], cloud: cloudOf(sampleCloud()) },
      [
        { heal: 'close-instance', instance: 'i-replica' },
        { heal: 'close-replica', replica: 'rep-1' },
      ],
    ],
  ] as const)('finds %s', (_, change, findings) => {
    expect(sweep(sampleObservation(change))).toMatchObject(findings);
  });

  it('leaves alone what was launched a moment ago, and what EC2 may not have heard of yet', () => {
    const young = sampleCloud({ id: 'i-young', launchedAtMs: ago(30) });
    expect(sweep(sampleObservation({ cloud: cloudOf(sampleCloud(), young) }))).toEqual([]);
    const replicas = [sampleReplica({ createdAtMs: ago(20) })];
    expect(sweep(sampleObservation({ replicas, cloud: cloudOf(sampleCloud()) }))).toEqual([]);
  });

  it('finds nothing while EC2 does not answer', () => {
    expect(sweep(sampleObservation({ replicas: [sampleReplica()], cloud: null }))).toEqual([]);
  });
});

describe('a PRIMARY that is silent', () => {
  const silent = { agent: { lastHeartbeatMs: ago(121) }, replicas: [sampleReplica()] };

  it('is suspected after two minutes', () => {
    expect(isSilent(sampleObservation({ agent: { lastHeartbeatMs: ago(119) } }))).toBe(false);
    expect(isSilent(sampleObservation(silent))).toBe(true);
  });

  it('is replaced only when EC2 says that it does not run', () => {
    const state = (of: 'running' | 'stopped') => ({
      instances: [sampleCloud({ state: of }), sampleCloud({ id: 'i-replica' })],
      prices: [],
    });
    const operation = (cloud: SpotObservation['cloud']): string =>
      planSpotAgent(sampleObservation({ ...silent, cloud })).operation;
    expect(operation(state('running'))).toBe('none');
    expect(operation(null)).toBe('none');
    expect(operation(state('stopped'))).toBe('fail-over');
  });
});

describe('the next look', () => {
  it('comes when the silence of the PRIMARY would be suspicious', () => {
    expect(nextWakeMs(sampleObservation())).toBe(ago(10) + 121_000);
  });

  it('comes soon under a termination notice, and at its expiry under a recommendation', () => {
    const agent = sampleAgent({ lastHeartbeatMs: null });
    expect(nextWakeMs(sampleObservation({ agent: { ...agent, notice: termination() } }))).toBe(
      NOW_MS + 5_000,
    );
    expect(nextWakeMs(sampleObservation({ agent: { ...agent, notice: rebalance() } }))).toBe(
      ago(1) + 1_800_000,
    );
  });

  it('comes when a zombie’s time is over', () => {
    const zombie = sampleInstance({ id: 'i-old', status: 'zombie', retiredAtMs: ago(10) });
    const observed = sampleObservation({
      agent: { lastHeartbeatMs: null, autoTerminate: true },
      instances: [sampleInstance(), zombie],
    });
    expect(nextWakeMs(observed)).toBe(ago(10) + 300_000);
  });

  it('is the usual one when nothing runs out', () => {
    expect(nextWakeMs(sampleObservation({ agent: { lastHeartbeatMs: null } }))).toBeNull();
  });
});
