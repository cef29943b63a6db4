import { describe, expect, it } from 'vitest';
import { countSlots } from '../../../workflows/valkey-cluster/domain/slots.ts';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { Random } from '../engine/random.ts';
import { HOUR_MS, openStage } from '../valkey-cluster/stage.ts';
import type { ValkeyWorld } from '../valkey-cluster/world.ts';

const WALKS = 30;
const MISHAPS = 8;

const image = (tag: string) => ({ image: { ...DEFAULT_SPEC.image, tag } });
const slotsOf = (world: ValkeyWorld): number =>
  [...world.servers.values()].reduce((sum, server) => sum + countSlots(server.slots), 0);

describe('an upgrade among mishaps', () => {
  it.each(Array.from({ length: WALKS }, (_, at) => at))(
    'number %i ends whole, on one version',
    async (walk) => {
      const random = new Random(`upgrade-${walk}`);
      const pick = <T>(...of: readonly [T, ...T[]]): T => of[random.between(0, of.length - 1)] ?? of[0];
      const from = pick('8.1.8', '9.0.0');
      const target = pick('9.1.2', '9.1.2', '9.9.9');
      const replicasPerMaster = pick(0, 1, 2);
      const { world, engine, hint, settles, until } = openStage({ seed: `upgrade-${walk}` });
      hint(world.apply({ ...image(from), replicasPerMaster }));
      await settles('Running');
      engine.faults = { lostAnswer: 0.1, frozen: 0.05, slow: 0.1 };
      const spec = {
        clusterRef: { name: 'cache' },
        targetVersion: target,
        podReadyTimeoutSeconds: 60,
        maxUnavailableShards: pick(1, 2),
        ...pick({}, { bakeSeconds: 5 }),
      };
      hint(world.upgrades.create('upgrade', spec, engine.agenda.nowMs));
      const [upgrade] = world.upgrades.all;
      for (let mishap = 0; mishap < MISHAPS; mishap += 1) {
        await engine.until(() => false, random.between(200, 6_000));
        const [pod] = [random.between(0, world.pods.length - 1)].flatMap((at) => world.pods[at] ?? []);
        if (pick(true, false)) await engine.crash(random.between(100, 2_000));
        else if (pod !== undefined) world.remove('Pod', pod.name, pod.uid, engine.agenda.nowMs);
        expect(slotsOf(world)).toBe(16_384);
        hint(world.hint());
      }
      engine.faults = { lostAnswer: 0, frozen: 0, slow: 0 };
      const ends = target === '9.1.2' ? 'Completed' : 'RolledBack';
      await until(`it is ${ends}`, () => upgrade?.status?.phase === ends);
      await settles('Running');
      await engine.until(() => false, HOUR_MS);
      const tag = ends === 'Completed' ? target : from;
      expect(new Set(world.pods.map((pod) => pod.image))).toEqual(new Set([`valkey/valkey:${tag}`]));
      expect(world.pods).toHaveLength(3 * (1 + replicasPerMaster));
      expect(world.resource?.spec.image.tag).toBe(tag);
      expect(slotsOf(world)).toBe(16_384);
      expect(engine.journal.violations).toEqual([]);
    },
  );
});
