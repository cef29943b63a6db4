import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Endpoint, Surroundings } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import { once, type Answered } from './idempotency.ts';
import { buildOpenApi } from './openapi.ts';
import { RateLimit, type Rate } from './rate-limit.ts';
import { Refusal } from './refusal.ts';
import { agentParams } from './schemas.ts';
import { bearerOf, hashToken } from './tokens.ts';

const BODY_BYTES = 64 * 1024;
const KEY = /^[\x21-\x7e]{1,190}$/;

/** What a server is made of; the rate is a setting of the deployment. */
export interface SpotServerOptions extends Surroundings {
  readonly rate: Rate;
  /** Told of every error that has no name: a defect of ours, which is answered without its words. */
  readonly defect: (error: unknown) => void;
}

/** The API of the spot agents. */
export function createSpotServer(options: SpotServerOptions): FastifyInstance {
  const server = fastify({ bodyLimit: BODY_BYTES, routerOptions: { maxParamLength: 100 } });
  const limit = new RateLimit(options.rate);
  const document = buildOpenApi(ENDPOINTS);
  server.get('/openapi.json', () => document);
  server.get('/healthz', () => ({ ok: true }));
  for (const row of ENDPOINTS) {
    server.route({
      method: row.method,
      url: row.path,
      handler: (request, reply) => serve(options, limit, row, request, reply),
    });
  }
  server.removeContentTypeParser('text/plain');
  // A POST without a body is a POST of nothing, which the endpoint judges.
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(String(body)));
    } catch {
      done(new Refusal(400, 'INVALID_JSON', 'the body is not JSON'));
    }
  });
  server.setNotFoundHandler((_request, reply) =>
    fail(reply, new Refusal(404, 'NOT_FOUND', 'there is no such path')),
  );
  server.setErrorHandler((error, _request, reply) => fail(reply, refusalOf(error, options.defect)));
  return server;
}

async function serve(
  options: SpotServerOptions,
  limit: RateLimit,
  row: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const clientId = await authenticate(options, request);
  const waitSeconds = limit.take(clientId, Date.now());
  if (waitSeconds > 0) {
    void reply.header('retry-after', String(waitSeconds));
    throw new Refusal(429, 'TOO_MANY_REQUESTS', `come again in ${waitSeconds} s`);
  }
  const asked = {
    ...options,
    clientId,
    agentId: row.path.includes(':id') ? parse(agentParams, request.params, 'the path').id : '',
    body: row.body === undefined ? undefined : parse(row.body, request.body, 'the body'),
    query: row.query === undefined ? undefined : parse(row.query, request.query, 'the query'),
  };
  const work = async (): Promise<Answered> => {
    try {
      return { status: 200, body: await row.handle(asked) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: error.status, body: wordsOf(error) };
    }
  };
  const value = keyOf(request);
  const { status, body } =
    value === null || row.method === 'GET'
      ? await work()
      : await once(
          options.store,
          { clientId, value, request: JSON.stringify([row.method, request.url, request.body ?? null]) },
          work,
        );
  return reply.status(status).send(body);
}

async function authenticate({ store }: SpotServerOptions, request: FastifyRequest): Promise<string> {
  const token = bearerOf(request.headers.authorization);
  const [client] =
    token === null ? [] : await store.read('SELECT id FROM clients WHERE token_hash = ?', hashToken(token));
  if (client === undefined) throw new Refusal(401, 'UNAUTHORIZED', 'show a token: Authorization: Bearer …');
  return String(client['id']);
}

function keyOf(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw new Refusal(400, 'INVALID_REQUEST', 'the Idempotency-Key must be 1 to 190 visible characters');
}

function parse<T extends z.ZodType>(schema: T, value: unknown, what: string): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const at = issue === undefined || issue.path.length === 0 ? what : `${what}, ${issue.path.join('.')}`;
  throw new Refusal(400, 'INVALID_REQUEST', `${at}: ${issue?.message ?? 'it is malformed'}`);
}

/** The errors of the server itself have a status; what has none is a defect, whose words stay here. */
function refusalOf(error: unknown, defect: (error: unknown) => void): Refusal {
  if (error instanceof Refusal) return error;
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500)
    return new Refusal(status, 'INVALID_REQUEST', error instanceof Error ? error.message : 'it is malformed');
  defect(error);
  return new Refusal(500, 'DEFECT', 'something went wrong that should not: it was written down');
}

const wordsOf = ({ code, message }: Refusal) => ({ error: { code, message } });

function fail(reply: FastifyReply, refusal: Refusal): FastifyReply {
  return reply.status(refusal.status).send(wordsOf(refusal));
}
