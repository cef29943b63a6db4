import type { PoolConnection } from 'mysql2/promise';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabaseStage, type DatabaseStage } from './database-stage.ts';

const CONNECTIONS = 32;
const PROMOTIONS = 10_000;

let stage: DatabaseStage;
let connections: PoolConnection[];
beforeAll(async () => {
  stage = await openDatabaseStage(CONNECTIONS + 4);
  connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => stage.pool.getConnection()));
});
afterAll(async () => {
  for (const connection of connections) connection.destroy();
  await stage[Symbol.asyncDispose]();
});

/** One call: it wins, or is told why not in the server's own words. */
async function promote(
  connection: PoolConnection,
  agent: string,
  id: string,
  epoch: number,
): Promise<string> {
  try {
    await connection.query('CALL promote_instance_to_primary(?, ?, ?)', [id, agent, epoch]);
    return 'won';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Counts PRIMARY rows for as long as the race runs; every count is of one committed instant. */
function watchPrimaries(agent: string): { stop(): Promise<readonly number[]> } {
  let running = true;
  const seen: number[] = [];
  const watching = (async () => {
    while (running) seen.push((await stage.primaries(agent)).length);
  })();
  return {
    async stop() {
      running = false;
      await watching;
      return seen;
    },
  };
}

it('lets exactly one of 32 promotions with the same epoch win, five thousand times over', async () => {
  const agent = await stage.addAgent(CONNECTIONS);
  const candidates = connections.map((_, at) => `${agent}-r${at}`);
  const watch = watchPrimaries(agent);
  let calls = 0;
  for (let epoch = 0; calls < PROMOTIONS / 2; epoch += 1) {
    const told = await Promise.all(
      connections.map((connection, at) => promote(connection, agent, candidates[at] ?? '', epoch)),
    );
    calls += told.length;
    expect(told.filter((one) => one === 'won')).toHaveLength(1);
    expect(told.filter((one) => one === 'version conflict')).toHaveLength(CONNECTIONS - 1);
    // The winner is PRIMARY now and then a zombie: a fresh replica takes its place in the race.
    const winner = told.indexOf('won');
    candidates[winner] = `${agent}-n${epoch}`;
    await stage.addReplica(agent, candidates[winner] ?? '');
  }
  expect(new Set(await watch.stop())).toEqual(new Set([1]));
});

it('never has two PRIMARY rows and never hides an error when everyone promotes as fast as it can', async () => {
  const agent = await stage.addAgent(0);
  const watch = watchPrimaries(agent);
  const told = new Map<string, number>();
  let calls = 0;
  await Promise.all(
    connections.map(async (connection, at) => {
      for (let turn = 0; calls < PROMOTIONS / 2; turn += 1) {
        const candidate = `${agent}-${at}-${turn}`;
        await stage.addReplica(agent, candidate);
        for (let answer = ''; answer !== 'won' && calls < PROMOTIONS / 2;) {
          calls += 1;
          const [row] = await stage.rows('SELECT epoch FROM agents WHERE id = ?', agent);
          answer = await promote(connection, agent, candidate, Number(row?.['epoch']));
          told.set(answer, (told.get(answer) ?? 0) + 1);
        }
      }
    }),
  );
  expect([...told.keys()].toSorted()).toEqual(['version conflict', 'won']);
  const [row] = await stage.rows('SELECT epoch FROM agents WHERE id = ?', agent);
  expect(row?.['epoch']).toBe(told.get('won'));
  expect(new Set(await watch.stop())).toEqual(new Set([1]));
  const [events] = await stage.rows(
    "SELECT COUNT(*) AS promoted FROM system_events WHERE agent_id = ? AND event_type = 'instance_promoted'",
    agent,
  );
  expect(events?.['promoted']).toBe(told.get('won'));
});
