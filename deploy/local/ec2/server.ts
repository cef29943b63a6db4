import { createServer, type IncomingMessage, type Server } from 'node:http';
import { z } from 'zod';
import { behaviourSchema } from './behaviour.ts';
import { Emulator, type Answer } from './emulator.ts';
import { Metadata } from './metadata.ts';
import { parseQuery, queryLike, type Ec2Query } from './query.ts';

const MOST_BYTES = 1_000_000;
const NOTICE_MS = 120_000;

const announcementSchema = z.strictObject({
  instanceId: z.string(),
  kind: z.enum(['rebalance', 'termination']),
  region: z.string().default('us-east-1'),
  /** In how long the instance goes, for a termination. */
  inMs: z.number().int().min(0).default(NOTICE_MS),
});

/**
 * Serves EC2 at `/`, the metadata of an instance below `/metadata/<instance>`, and what tests and people set at
 * `/control/behaviour` and `/control/announce`.
 */
export function createEmulatorServer(motoUrl: string): Server {
  const metadata = new Metadata();
  const emulator = new Emulator(
    (query) => forward(motoUrl, query),
    (id, instanceType, az) => metadata.place(id, instanceType, az),
  );
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const body = await readBody(request);
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const [, instanceId, rest] = /^\/metadata\/([^/]+)(\/.*)$/.exec(path) ?? [];
    if (instanceId !== undefined && rest !== undefined) return metadata.answer(instanceId, rest, request);
    if (path === '/control/behaviour') {
      emulator.behaviour.change(behaviourSchema.parse(JSON.parse(body)));
      return { status: 200, body: '{}' };
    }
    if (path === '/control/announce')
      return announce(metadata, emulator, announcementSchema.parse(JSON.parse(body)));
    return emulator.answer(parseQuery(body, request.headers.authorization ?? ''));
  };
  return createServer((request, response) => {
    answer(request).then(
      ({ status, body }) => response.writeHead(status, { 'content-type': 'text/xml' }).end(body),
      (error: unknown) =>
        response
          .writeHead(error instanceof z.ZodError ? 400 : 502)
          .end(error instanceof Error ? error.message : ''),
    );
  });
}

/** Tells the instance's metadata, and ends the instance when its time has come, as AWS does. */
function announce(
  metadata: Metadata,
  emulator: Emulator,
  { instanceId, kind, region, inMs }: z.infer<typeof announcementSchema>,
): Answer {
  const nowMs = Date.now();
  const at = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
  if (kind === 'rebalance') {
    metadata.announce(instanceId, { rebalance: { noticeTime: at(nowMs) } });
    return { status: 200, body: '{}' };
  }
  metadata.announce(instanceId, { action: { action: 'terminate', time: at(nowMs + inMs) } });
  const authorization = `AWS4-HMAC-SHA256 Credential=keelson/20260101/${region}/ec2/aws4_request, SignedHeaders=host, Signature=0`;
  setTimeout(() => {
    const end = queryLike({ authorization }, 'TerminateInstances', { 'InstanceId.1': instanceId });
    emulator.answer(end).catch((error: unknown) => console.error(`${instanceId} was not ended:`, error));
  }, inMs).unref();
  return { status: 200, body: '{}' };
}

async function forward(motoUrl: string, { parameters, authorization }: Ec2Query): Promise<Answer> {
  const response = await fetch(motoUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8', authorization },
    body: new URLSearchParams({ ...parameters }).toString(),
  });
  return { status: response.status, body: await response.text() };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > MOST_BYTES) throw new Error(`the request is over ${MOST_BYTES} bytes`);
  }
  return body;
}
