import { expect, it } from 'vitest';
import { openStage, sharesOf } from './stage.ts';

const WISHES = [
  [6, 0],
  [4, 0],
  [3, 0],
  [7, 2],
] as const;
/** From before the first object to after the last word of the creation. */
const MOMENTS_MS = [40, 130, 500, 900, 940, 960, 1_000, 1_030, 1_060, 1_100];

const cases = WISHES.flatMap(([masters, replicas]) =>
  MOMENTS_MS.map((atMs) => ({ masters, replicas, atMs })),
);

it.each(cases)(
  'a creation of 5 masters with a replica each gives way after $atMs ms to a wish for $masters with $replicas',
  async ({ masters, replicas, atMs }) => {
    const { world, engine, hint, until } = openStage();
    hint(world.apply({ masters: 5, replicasPerMaster: 1 }));
    await engine.until(() => false, atMs);
    hint(world.apply({ masters, replicasPerMaster: replicas }));
    await until('the second wish is carried out', () => world.resource?.status['observedGeneration'] === 2);
    expect(sharesOf(world)).toHaveLength(masters);
    expect(world.pods).toHaveLength(masters * (1 + replicas));
  },
);
