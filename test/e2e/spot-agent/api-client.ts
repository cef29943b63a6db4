import type { FastifyInstance } from 'fastify';
import { openDatabase } from '../../../starter/database/connection.ts';
import { addClient } from '../../../starter/http/spot/clients.ts';
import { createEntities } from '../../../starter/http/spot/entities.ts';
import type { Rate } from '../../../starter/http/spot/rate-limit.ts';
import { createSpotServer } from '../../../starter/http/spot/server.ts';
import { createStore } from '../../../starter/http/spot/store.ts';
import type { SpotWorld } from './spot-world.ts';

const DEADLINE_MS = 30_000;
const PLENTY: Rate = { perSecond: 10_000, burst: 10_000 };

/** An answer of the API. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The API over the real database and the real server, and clients that use it. */
export class SpotApi {
  readonly server: FastifyInstance;
  /** Errors that no request should ever cause. */
  readonly defects: unknown[] = [];
  /** What was said of requests that were answered with 503. */
  readonly unavailable: string[] = [];
  readonly #pool: ReturnType<typeof openDatabase>;

  constructor(world: SpotWorld, rate: Rate = PLENTY) {
    this.#pool = openDatabase(world.database.url);
    this.server = createSpotServer({
      store: createStore(this.#pool),
      entities: createEntities(world.client, DEADLINE_MS),
      rate,
      strangerRate: PLENTY,
      unavailable: (refusal) => this.unavailable.push(refusal.message),
      defect: (error) => this.defects.push(error),
    });
  }

  /** A new client, by its token. */
  async addClient(name = 'test'): Promise<ApiClient> {
    const { id, token } = await addClient(this.#pool, name);
    return new ApiClient(this.server, id, token);
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.#pool.end();
  }
}

/** Somebody who has a token. */
export class ApiClient {
  readonly id: string;
  readonly token: string;
  readonly #server: FastifyInstance;

  constructor(server: FastifyInstance, id: string, token: string) {
    this.#server = server;
    this.id = id;
    this.token = token;
  }

  async ask(
    method: 'GET' | 'POST' | 'PUT',
    url: string,
    payload?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiAnswer> {
    const response = await this.#server.inject({
      method,
      url,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload === undefined
        ? {}
        : { payload: typeof payload === 'string' ? payload : JSON.stringify(payload) }),
    });
    return {
      status: response.statusCode,
      headers: response.headers,
      body: response.json<Record<string, unknown>>(),
    };
  }
}
