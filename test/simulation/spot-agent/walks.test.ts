import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SpotStage } from './stage.ts';

const WALKS = 40;
const MINUTE_MS = 60_000;

/** What an incident hits: an instance by its number, and a number of its own. */
interface Hit {
  readonly instance: string;
  readonly primary: string;
  readonly number: number;
}

/** All that happens to agents, at whatever moment of their lives. */
const INCIDENTS: Readonly<Record<string, (stage: SpotStage, hit: Hit) => unknown>> = {
  'the PRIMARY is interrupted': (stage, { primary }) => stage.notice('termination', primary),
  'a rebalance is recommended': (stage, { primary }) => stage.notice('rebalance', primary),
  'any instance is interrupted': (stage, { instance }) => stage.notice('termination', instance),
  'notices come twice, together and out of order': (stage, { primary }) => {
    stage.notice('termination', primary, 7);
    stage.notice('termination', primary, 7);
    stage.notice('rebalance', primary, 8);
  },
  'AWS takes an instance without a word': ({ world }, { instance }) => world.reclaim(instance),
  'a person ends the PRIMARY and closes its row': ({ world, engine }) => world.vacate(engine.agenda.nowMs),
  'a pool has no capacity': ({ world }) => world.full.add('c5.large/us-east-1a'),
  'capacity returns': ({ world }) => world.full.clear(),
  'EC2 does not answer': ({ world }) => (world.away = true),
  'EC2 answers again': ({ world }) => (world.away = false),
  'a launch is lost': ({ world, engine }) => world.appear(true, engine.agenda.nowMs),
  'somebody else’s instance appears': ({ world, engine }) => world.appear(false, engine.agenda.nowMs),
  'the configuration changes': (stage, { number }) => {
    const { agent } = stage.world;
    const manualReplica = number % 2 === 0;
    const autoSwitch = !manualReplica && number % 3 === 0;
    Object.assign(agent, { manualReplica, autoSwitch, autoTerminate: number % 5 < 3 });
    agent.generation += 1;
    stage.hint();
  },
  'a person asks for a switch': (stage, { instance }) => {
    stage.world.agent.switchTarget = instance;
    stage.world.agent.generation += 1;
    stage.hint();
  },
  'an outsider promotes by the procedure': ({ world, engine }, { instance, number }) =>
    world.promote(instance, world.agent.epoch - (number % 2), engine.agenda.nowMs),
  'an instance registers': ({ world }, { instance, number }) =>
    world.register(instance, {
      isPrimary: number % 2 === 0,
      epoch: number % 3 === 0 ? null : world.agent.epoch - (number % 5),
    }),
  'a stranger registers': ({ world }, { number }) =>
    world.register(`i-stranger-${number}`, { isPrimary: true, epoch: null }),
  'a sweep is due': (stage) => stage.hint(),
  'every worker dies': ({ engine }) => engine.crash(5_000),
};

const walk = fc.array(
  fc.record({
    what: fc.constantFrom(...Object.keys(INCIDENTS)),
    number: fc.nat(999),
    thenSeconds: fc.nat(180),
  }),
  { minLength: 1, maxLength: 30, size: 'max' },
);

it('keeps one PRIMARY through any interleaving, leaks nothing and ends nothing that should live', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(1_000_000), walk, async (seed, incidents) => {
      const faults = { lostAnswer: 0.1, frozen: 0.05, slow: 0.1 };
      const stage = new SpotStage({ seed: String(seed), faults, longHistory: 60 });
      stage.report();
      for (const { what, number, thenSeconds } of incidents) {
        await INCIDENTS[what]?.(stage, { ...hitBy(stage, number), number });
        await stage.pass(thenSeconds * 1_000);
        expect(stage.world.broken).toEqual([]);
      }
      await bringPeace(stage);
      expect(stage.world.broken).toEqual([]);
      expect(stage.runs).toBe(true);
      expect(stage.leaked).toEqual([]);
    }),
    { numRuns: WALKS },
  );
});

function hitBy({ world }: SpotStage, number: number): Pick<Hit, 'instance' | 'primary'> {
  const running = [...world.cloud.values()].filter((one) => one.state === 'running').map((one) => one.id);
  const instance = running[number % Math.max(running.length, 1)] ?? 'i-first';
  return { instance, primary: world.primary?.id ?? instance };
}

/** Capacity, no further notice, and time for what was begun. */
async function bringPeace(stage: SpotStage): Promise<void> {
  stage.world.full.clear();
  stage.world.away = false;
  stage.engine.faults = { lostAnswer: 0, frozen: 0, slow: 0 };
  stage.hint();
  await stage.until('it serves again', () => stage.runs);
  await stage.pass(60 * MINUTE_MS);
}
