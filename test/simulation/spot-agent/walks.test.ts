import { describe, expect, it } from 'vitest';
import { Random } from '../engine/random.ts';
import { SpotStage } from './stage.ts';

const SEEDS = Array.from({ length: 20 }, (_, at) => `walk-${at}`);
const INCIDENTS = 25;
const MINUTE_MS = 60_000;

/** One thing that happens to an agent, at whatever moment of its life. */
async function happen(stage: SpotStage, random: Random): Promise<void> {
  const { world, engine } = stage;
  const instances = [...world.cloud.values()].filter((one) => one.state === 'running').map((one) => one.id);
  const anyone = instances[Math.floor(random.next() * instances.length)] ?? 'i-first';
  const primary = world.primary?.id ?? anyone;
  const incidents: readonly (() => unknown)[] = [
    () => stage.notice('termination', primary),
    () => stage.notice('rebalance', primary),
    () => stage.notice('termination', anyone),
    () => {
      stage.notice('termination', primary, 7);
      stage.notice('termination', primary, 7);
      stage.notice('rebalance', primary, 8);
    },
    () => world.reclaim(anyone),
    () => world.full.add('c5.large/us-east-1a'),
    () => world.full.clear(),
    () => {
      const manualReplica = random.next() < 0.5;
      Object.assign(world.agent, { manualReplica, autoSwitch: !manualReplica && random.next() < 0.5 });
      world.agent.autoTerminate = random.next() < 0.5;
      world.agent.generation += 1;
      stage.hint();
    },
    () => world.promote(anyone, world.agent.epoch - Math.floor(random.next() * 2), engine.agenda.nowMs),
    () => stage.hint(),
    () => engine.crash(5_000),
  ];
  await incidents[Math.floor(random.next() * incidents.length)]?.();
}

describe('whatever happens to an agent, in any order and with lost answers and frozen workers', () => {
  it.each(SEEDS)(
    '%s: one PRIMARY at most at every instant, exactly one in the end, nothing leaked',
    async (seed) => {
      const random = new Random(seed);
      const stage = new SpotStage({
        seed,
        faults: { lostAnswer: 0.1, frozen: 0.05, slow: 0.1 },
        longHistory: 60,
      });
      stage.report();
      for (let at = 0; at < INCIDENTS; at += 1) {
        await happen(stage, random);
        await stage.pass(random.next() * 3 * MINUTE_MS);
        expect(stage.world.broken).toEqual([]);
      }
      // Then there is peace: capacity, no further notice, and time for what was begun.
      stage.world.full.clear();
      stage.engine.faults = { lostAnswer: 0, frozen: 0, slow: 0 };
      stage.hint();
      await stage.until('it serves again', () => stage.runs);
      await stage.pass(60 * MINUTE_MS);
      expect(stage.world.broken).toEqual([]);
      expect(stage.runs).toBe(true);
      expect(stage.leaked).toEqual([]);
    },
  );
});
