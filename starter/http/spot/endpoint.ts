import type { z } from 'zod';
import type { Entities } from './entities.ts';
import type { Store } from './store.ts';

/** What every endpoint works with. */
export interface Surroundings {
  readonly store: Store;
  readonly entities: Entities;
}

/** A request that has been authenticated and parsed. */
export interface Asked<Body, Query> extends Surroundings {
  readonly clientId: string;
  /** The agent in the path; empty where the path has none. */
  readonly agentId: string;
  readonly body: Body;
  readonly query: Query;
}

/** One row of the API: the same for the server, for its document and for the tests of every endpoint. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly body?: z.ZodType;
  readonly query?: z.ZodType;
  readonly answer: z.ZodType;
  handle(asked: Asked<unknown, unknown>): Promise<object>;
}

/** Builds a row; what its handler is given is what its schemas have parsed. */
export const endpoint = <Body extends z.ZodType, Query extends z.ZodType, Answer extends z.ZodType>(row: {
  readonly method: Endpoint['method'];
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly body?: Body;
  readonly query?: Query;
  readonly answer: Answer;
  handle(asked: Asked<z.infer<Body>, z.infer<Query>>): Promise<z.infer<Answer> & object>;
}): Endpoint => ({ ...row, handle: (asked) => row.handle(asked as Asked<z.infer<Body>, z.infer<Query>>) });
