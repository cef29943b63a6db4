import { describe, expect, it } from 'vitest';
import { SpotStage } from './stage.ts';

const MINUTE_MS = 60_000;

describe('a simulated agent', () => {
  it('is moved by a termination notice without a replica, within the notice', async () => {
    const stage = new SpotStage();
    stage.notice('termination', 'i-first');
    await stage.until('replicas are launched', () => stage.world.cloud.size > 1);
    stage.report();
    await stage.until('another one is PRIMARY', () => stage.world.primary?.id !== 'i-first');
    expect(stage.engine.agenda.nowMs).toBeLessThan(120_000);
    await stage.pass(5 * MINUTE_MS);
    expect(stage.world.broken).toEqual([]);
    expect(stage.leaked).toEqual([]);
    expect([...stage.world.cloud.values()].filter((one) => one.state === 'running')).toHaveLength(1);
    expect(stage.world.instances.get('i-first')?.status).toBe('terminated');
  });

  it('lets a recommendation expire, and ends the replica that was prepared for it', async () => {
    const stage = new SpotStage();
    stage.notice('rebalance', 'i-first');
    await stage.until('a replica is launched', () => stage.world.cloud.size === 2);
    stage.report();
    await stage.pass(20 * MINUTE_MS);
    expect(stage.world.primary?.id).toBe('i-first');
    expect(stage.world.agent.notice).not.toBeNull();
    await stage.pass(15 * MINUTE_MS);
    expect(stage.world.agent.notice).toBeNull();
    expect(stage.leaked).toEqual([]);
    expect([...stage.world.cloud.values()].filter((one) => one.state === 'running')).toHaveLength(1);
  });

  it('keeps exactly one replica in manual mode, and brings another when AWS takes it', async () => {
    const stage = new SpotStage();
    Object.assign(stage.world.agent, { manualReplica: true, generation: 2 });
    stage.hint();
    await stage.until('a replica is launched', () => stage.world.cloud.size === 2);
    stage.report();
    await stage.pass(MINUTE_MS);
    const [replica] = [...stage.world.replicas.values()];
    stage.notice('termination', replica?.instanceId ?? '');
    await stage.until('another replica is launched', () => stage.world.cloud.size === 3);
    expect(stage.world.primary?.id).toBe('i-first');
    expect(stage.world.broken).toEqual([]);
  });

  it('says that it is unserved while nothing can be launched, and goes on when capacity returns', async () => {
    const stage = new SpotStage();
    if (stage.world.agent.launch !== null)
      stage.world.agent.launch = { ...stage.world.agent.launch, onDemand: false };
    for (const pool of stage.world.agent.launch?.pools ?? [])
      stage.world.full.add(`${pool.instanceType}/${pool.az}`);
    stage.notice('termination', 'i-first');
    await stage.until('it is unserved', () => stage.world.agent.phase === 'Unserved');
    stage.world.full.clear();
    await stage.until('replicas are launched', () => stage.world.cloud.size > 1);
    stage.report();
    await stage.until('it serves again', () => stage.runs);
    expect(stage.world.events.some((event) => event.startsWith('launch_failed'))).toBe(true);
  });

  it('promotes the replica that is ready where a person has closed the row of the PRIMARY', async () => {
    const stage = new SpotStage();
    Object.assign(stage.world.agent, { manualReplica: true, generation: 2 });
    stage.hint();
    await stage.until('a replica is launched', () => stage.world.cloud.size === 2);
    stage.report();
    await stage.pass(MINUTE_MS);
    const [replica] = [...stage.world.replicas.values()];
    stage.world.vacate(stage.engine.agenda.nowMs);
    await stage.until('one is PRIMARY again', () => stage.runs);
    expect(stage.world.primary?.id).toBe(replica?.instanceId);
    expect(stage.world.broken).toEqual([]);
  });
});
