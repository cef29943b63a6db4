import { afterEach, describe, expect, it } from 'vitest';
import type { Entities } from '../../../starter/http/spot/entities.ts';
import { RateLimit } from '../../../starter/http/spot/rate-limit.ts';
import { Refusal } from '../../../starter/http/spot/refusal.ts';
import { createSpotServer } from '../../../starter/http/spot/server.ts';
import type { Row, Store } from '../../../starter/http/spot/store.ts';
import { hashToken, newToken } from '../../../starter/http/spot/tokens.ts';

const TOKEN = newToken();
const AWAY = new Refusal(503, 'UNAVAILABLE', 'the database does not answer: try again', {
  cause: new Error('connect ECONNREFUSED'),
});

const entities: Entities = {
  notice: () => Promise.reject(new Error('nobody is told')),
  hint: () => Promise.reject(new Error('nobody is told')),
  plan: () => Promise.resolve(null),
};

let close = async (): Promise<void> => {};
afterEach(() => close());

/** The API over a database that knows one token, or is away; what it asks of the database is counted. */
function serve() {
  const said: string[] = [];
  const database = { asked: 0, answers: Infinity, valid: new Set([hashToken(TOKEN)]) };
  const read = async (_sql: string, value: unknown): Promise<readonly Row[]> => {
    database.asked += 1;
    if (database.asked > database.answers) throw AWAY;
    return database.valid.has(String(value)) ? [{ id: 'cl-1' }] : [];
  };
  const store: Store = { read, write: async () => 0, transaction: () => Promise.reject(AWAY) };
  const server = createSpotServer({
    store,
    entities,
    rate: { perSecond: 1_000, burst: 1_000 },
    strangerRate: { perSecond: 0.001, burst: 3 },
    unavailable: ({ message, cause }, request) => said.push(`${request}: ${message} (${String(cause)})`),
    defect: (error) => said.push(`a defect: ${String(error)}`),
  });
  close = () => server.close();
  const ask = async (token: string | null, from = '192.0.2.1') => {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const answer = await server.inject({
      url: '/api/agents/agt-1/config',
      headers,
      remoteAddress: from,
    });
    return answer.statusCode;
  };
  return { ask, database, said };
}

describe('whoever is not known', () => {
  it('reaches the database so often from one address, and then is told when to come again', async () => {
    const { ask, database } = serve();
    const answers = [];
    for (let at = 0; at < 5; at += 1) answers.push(await ask(newToken()));
    expect(answers).toEqual([401, 401, 401, 429, 429]);
    expect(database.asked).toBe(3);
    expect(await ask(newToken(), '192.0.2.2')).toBe(401);
  });

  it('is counted without a token too', async () => {
    const { ask } = serve();
    for (let at = 0; at < 3; at += 1) expect(await ask(null)).toBe(401);
    expect(await ask(null)).toBe(429);
  });

  it('keeps nobody out who was recognised before from the same address', async () => {
    const { ask } = serve();
    expect(await ask(TOKEN)).toBe(404);
    for (let at = 0; at < 5; at += 1) await ask(newToken());
    expect(await ask(TOKEN)).toBe(404);
  });

  it('is also who shows a token that is not valid any more', async () => {
    const { ask, database } = serve();
    await ask(TOKEN);
    for (let at = 0; at < 5; at += 1) await ask(newToken());
    database.valid.clear();
    expect(await ask(TOKEN)).toBe(401);
    expect(await ask(TOKEN)).toBe(429);
  });
});

describe('a request that is answered with 503', () => {
  it('is told to whoever runs the API, with its cause', async () => {
    const { ask, database, said } = serve();
    database.answers = 0;
    expect(await ask(TOKEN)).toBe(503);
    expect(said).toEqual([
      'GET /api/agents/agt-1/config: the database does not answer: try again (Error: connect ECONNREFUSED)',
    ]);
  });

  it('is told once also where its endpoint is what fails', async () => {
    const { ask, database, said } = serve();
    database.answers = 1;
    expect(await ask(TOKEN)).toBe(503);
    expect(said).toHaveLength(1);
  });
});

describe('a limit', () => {
  it('remembers no more callers than it can count', () => {
    const limit = new RateLimit({ perSecond: 0.001, burst: 1 });
    expect(limit.take('first', 0)).toBe(0);
    expect(limit.take('first', 0)).toBeGreaterThan(0);
    for (let at = 0; at < 10_000; at += 1) limit.take(`caller-${at}`, 0);
    expect(limit.take('first', 0)).toBe(0);
  });
});
