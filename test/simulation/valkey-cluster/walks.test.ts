import { describe, expect, it } from 'vitest';
import { countDoubled, countSlots } from '../../../workflows/valkey-cluster/domain/slots.ts';
import { Random } from '../engine/random.ts';
import { ID, openStage, sharesOf } from './stage.ts';
import type { ValkeyWorld } from './world.ts';

const WALKS = 50;
const STEPS = 6;

/** What breaks a promise in this world, in words; null when nothing does. */
function broken(world: ValkeyWorld): string | null {
  const held = [...world.servers.values()].map((server) => server.slots);
  if (countDoubled(held) > 0) return `${countDoubled(held)} slots are served twice`;
  return countSlots(held.flat()) === 16_384 ? null : `${countSlots(held.flat())} slots are served`;
}

/** What a cluster that was given time still lacks of its wish. */
function unfulfilled(world: ValkeyWorld): string | null {
  const { masters, replicasPerMaster } = world.present().spec;
  const shares = sharesOf(world);
  if (shares.length !== masters) return `${shares.length} masters instead of ${masters}`;
  if (world.pods.length !== masters * (1 + replicasPerMaster)) return `${world.pods.length} pods`;
  const astray = world.pods.filter((pod) => {
    const { masterId } = world.server(pod.name);
    const master = world.pods.find((other) => world.server(other.name).id === masterId);
    return masterId !== null && master?.shard !== pod.shard;
  });
  return astray.length === 0 ? null : `${astray.map((pod) => pod.name).join(', ')} follow another shard`;
}

describe('a random walk of a Valkey cluster', () => {
  it.each(Array.from({ length: WALKS }, (_, seed) => seed))(
    'number %i loses no slot on its way, and ends where it was last wished to be',
    async (seed) => {
      const random = new Random(`walk-${seed}`);
      const faults = { lostAnswer: 0.05, frozen: 0.02, slow: 0.05 };
      const { world, engine, hint, until, settles } = openStage({ seed: `walk-${seed}`, faults });
      hint(world.apply({ masters: random.between(3, 5), replicasPerMaster: random.between(0, 2) }));
      await settles('Running');
      const moves = {
        wish: () => {
          const replicasPerMaster = random.between(0, 2);
          hint(world.apply({ masters: random.between(3, 7), replicasPerMaster }));
        },
        'kill a pod': () => {
          const pod = world.pods[random.between(0, world.pods.length - 1)];
          if (pod === undefined) return;
          world.remove('Pod', pod.name, pod.uid, engine.agenda.nowMs);
          hint(world.hint());
        },
        // Nothing may be under way to be cancelled: the refusal is as good an answer.
        cancel: () => engine.update(ID, 'cancelOperation', { reason: 'a whim' }).catch(() => null),
        crash: () => engine.crash(random.between(100, 2_000)),
      };
      const story: string[] = [];
      for (let step = 0; step < STEPS; step += 1) {
        const move = random.pick(['wish', 'wish', 'kill a pod', 'cancel', 'crash'] as const);
        story.push(move);
        await moves[move]();
        await engine.until(() => false, random.between(50, 4_000));
        expect(broken(world), story.join(', ')).toBeNull();
      }
      hint(world.apply({ masters: random.between(3, 6), replicasPerMaster: random.between(0, 2) }));
      const { generation } = world.present();
      await until(
        `generation ${generation} is carried out after ${story.join(', ')}`,
        () => world.resource?.status['observedGeneration'] === generation,
      );
      expect([broken(world), unfulfilled(world)], story.join(', ')).toEqual([null, null]);
      expect(engine.journal.violations).toEqual([]);
    },
  );
});
