import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Mutation, MutationHook } from '../../../activities/mutations.ts';
import { failure } from '../../../workflows/shared/failures.ts';
import { SpotWorld } from './spot-world.ts';

/** Lets the first request to each target be lost: before it is sent, or after it has done its work. */
class Losses implements MutationHook {
  readonly lost = new Set<string>();
  readonly #when: 'before' | 'after';

  constructor(when: 'before' | 'after') {
    this.#when = when;
  }

  before(mutation: Mutation): void {
    if (this.#when === 'before') this.#lose(mutation);
  }

  after(mutation: Mutation): void {
    if (this.#when === 'after') this.#lose(mutation);
  }

  #lose({ system, verb, target }: Mutation): void {
    const key = `${system} ${verb} ${target}`;
    if (this.lost.has(key)) return;
    this.lost.add(key);
    throw failure(system === 'ec2' ? 'Ec2Unavailable' : 'MysqlUnavailable', `lost: ${key}`);
  }
}

describe.each(['before', 'after'] as const)(
  'with every request lost once, %s it has done its work',
  (when) => {
    const losses = new Losses(when);
    let world: SpotWorld;
    beforeAll(async () => {
      world = await SpotWorld.open(losses);
    });
    afterAll(() => world.close());

    it('a fail-over without a replica launches each replica once, promotes one and leaks nothing', async () => {
      const agent = await world.addAgent();
      await world.notice(agent);
      await world.until('three replicas are known', agent.id, async () => {
        const rows = await world.database.rows(
          'SELECT 1 FROM replica_instances WHERE agent_id = ? AND instance_id IS NOT NULL',
          agent.id,
        );
        return rows.length === 3;
      });
      await world.reportReady(agent.id);
      await world.until('a replica is PRIMARY and the others are closed', agent.id, async () => {
        const statuses = Object.values(await world.statuses(agent.id)).toSorted();
        return JSON.stringify(statuses) === '["running_primary","terminated","terminated","zombie"]';
      });
      const cloud = await world.cloud(agent.id);
      const [primary] = await world.database.primaries(agent.id);
      expect(Object.keys(cloud)).toHaveLength(4);
      const running = Object.entries(cloud).flatMap(([id, state]) => (state === 'running' ? [id] : []));
      expect(new Set(running)).toEqual(new Set([agent.primary, primary]));
      const promotions = (await world.events(agent.id)).filter((type) => type === 'instance_promoted');
      expect(promotions).toHaveLength(1);
      const verbs = new Set([...losses.lost].map((key) => key.split(' ')[1]));
      expect([...verbs]).toEqual(
        expect.arrayContaining([
          'run-instance',
          'terminate-instance',
          'promote',
          'link-replica',
          'close-instance',
        ]),
      );
    });
  },
);
