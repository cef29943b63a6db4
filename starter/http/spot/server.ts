import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Endpoint, Surroundings } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import { once, type Answered } from './idempotency.ts';
import { buildOpenApi } from './openapi.ts';
import { RateLimit, type Rate } from './rate-limit.ts';
import { Refusal } from './refusal.ts';
import { agentParams } from './schemas.ts';
import { Strangers } from './strangers.ts';
import { bearerHashOf } from './tokens.ts';

const BODY_BYTES = 64 * 1024;
const UNAVAILABLE = 503;
const KEY = /^[\x21-\x7e]{1,190}$/;

/** What a server is made of; the rate is a setting of the deployment. */
export interface SpotServerOptions extends Surroundings {
  readonly rate: Rate;
  /** How many requests of nobody that is known may come from one address. */
  readonly strangerRate: Rate;
  /** Told of every request that was answered with 503, and why: people have to find out that something is away. */
  readonly unavailable: (refusal: Refusal, request: string) => void;
  /** Told of every error that has no name: a defect of ours, which is answered without its words. */
  readonly defect: (error: unknown) => void;
}

/** The API of the spot agents. */
export function createSpotServer(options: SpotServerOptions): FastifyInstance {
  const server = fastify({ bodyLimit: BODY_BYTES, routerOptions: { maxParamLength: 100 } });
  const limit = new RateLimit(options.rate);
  const strangers = new Strangers(options.strangerRate);
  const document = buildOpenApi(ENDPOINTS);
  server.get('/openapi.json', () => document);
  server.get('/healthz', () => ({ ok: true }));
  for (const row of ENDPOINTS) {
    server.route({
      method: row.method,
      url: row.path,
      // Before its body is read.
      onRequest: async (request, reply) => admit(strangers, request, reply),
      handler: (request, reply) => serve({ ...options, limit, strangers }, row, request, reply),
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
  server.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error, options.defect);
    watch(options, refusal, request);
    return fail(reply, refusal);
  });
  return server;
}

/** What a request is served with. */
interface Serving extends SpotServerOptions {
  readonly limit: RateLimit;
  readonly strangers: Strangers;
}

function admit(strangers: Strangers, request: FastifyRequest, reply: FastifyReply): void {
  const hash = bearerHashOf(request.headers.authorization);
  refuseEager(reply, strangers.take(request.ip, hash, Date.now()));
}

function refuseEager(reply: FastifyReply, waitSeconds: number): void {
  if (waitSeconds === 0) return;
  void reply.header('retry-after', String(waitSeconds));
  throw new Refusal(429, 'TOO_MANY_REQUESTS', `come again in ${waitSeconds} s`);
}

function watch({ unavailable }: SpotServerOptions, refusal: Refusal, { method, url }: FastifyRequest): void {
  if (refusal.status === UNAVAILABLE) unavailable(refusal, `${method} ${url}`);
}

async function serve(
  options: Serving,
  row: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const clientId = await authenticate(options, request);
  refuseEager(reply, options.limit.take(clientId, Date.now()));
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
      watch(options, error, request);
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

async function authenticate({ store, strangers }: Serving, request: FastifyRequest): Promise<string> {
  const hash = bearerHashOf(request.headers.authorization);
  const [client] = hash === null ? [] : await store.read('SELECT id FROM clients WHERE token_hash = ?', hash);
  if (hash !== null) strangers.judged(hash, client !== undefined);
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
