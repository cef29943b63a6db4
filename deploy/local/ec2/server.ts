import { createServer, type IncomingMessage, type Server } from 'node:http';
import { z } from 'zod';
import { behaviourSchema } from './behaviour.ts';
import { Emulator, type Answer } from './emulator.ts';
import { EventBus, stateChanges } from './events.ts';
import { Fleet } from './fleet.ts';
import { Metadata } from './metadata.ts';
import { parseQuery, queryLike, regionOf, userDataField, type Ec2Query } from './query.ts';

const MOST_BYTES = 1_000_000;
const NOTICE_MS = 120_000;
const REGION = 'us-east-1';

const announcementSchema = z.strictObject({
  instanceId: z.string(),
  kind: z.enum(['rebalance', 'termination']),
  region: z.string().default(REGION),
  /** In how long the instance goes, for a termination. */
  inMs: z.number().int().min(0).default(NOTICE_MS),
});
const queueSchema = z.strictObject({
  name: z.string().regex(/^[\w-]{1,70}$/),
  region: z.string().default(REGION),
});
const imageSchema = z.strictObject({
  imageId: z.string(),
  api: z.url(),
  token: z.string().min(1),
  agent: z.string().min(1),
  everyMs: z.number().int().min(50).default(5_000),
});

/** The emulator as a server. */
export interface Ec2Server {
  readonly server: Server;
  /** A queue that hears of all that happens to instances; gives its address. */
  openQueue(name: string): Promise<string>;
  /** Ends it with all that runs on its instances. */
  close(): void;
}

/**
 * Serves EC2 at `/`, the metadata of an instance below `/metadata/<instance>`, and what tests and people set or read at
 * `/control/behaviour`, `/control/announce`, `/control/queue`, `/control/image` and `/control/agents`.
 */
export function createEmulatorServer(motoUrl: string, port: number): Ec2Server {
  const site = new Site(motoUrl, port);
  const server = createServer((request, response) => {
    site.answer(request).then(
      ({ status, body }) => response.writeHead(status, { 'content-type': 'text/xml' }).end(body),
      (error: unknown) =>
        response
          .writeHead(error instanceof z.ZodError ? 400 : 502)
          .end(error instanceof Error ? error.message : ''),
    );
  });
  return {
    server,
    openQueue: (name) => site.bus.openQueue(name, REGION),
    close() {
      site.fleet.endAll();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** All that is emulated in one place. */
class Site {
  readonly bus: EventBus;
  readonly fleet: Fleet;
  readonly #metadata = new Metadata();
  readonly #emulator: Emulator;

  constructor(motoUrl: string, port: number) {
    this.bus = new EventBus(motoUrl);
    this.fleet = new Fleet((instanceId) => `http://127.0.0.1:${port}/metadata/${instanceId}`);
    this.#emulator = new Emulator((query) => forward(motoUrl, query), {
      launched: (id, query) => this.#launched(id, query),
      ended: (id, query) => {
        this.fleet.end(id);
        this.bus.emit(regionOf(query), ...stateChanges(id, ['shutting-down', 'terminated']));
      },
    });
  }

  async answer(request: IncomingMessage): Promise<Answer> {
    const body = await readBody(request);
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const [, instanceId, rest] = /^\/metadata\/([^/]+)(\/.*)$/.exec(path) ?? [];
    if (instanceId !== undefined && rest !== undefined)
      return this.#metadata.answer(instanceId, rest, request);
    if (path.startsWith('/control/')) return done(await this.#control(path, body));
    return this.#emulator.answer(parseQuery(body, request.headers.authorization ?? ''));
  }

  async #control(path: string, body: string): Promise<object> {
    if (path === '/control/agents') return this.fleet.states;
    const asked: unknown = JSON.parse(body);
    switch (path) {
      case '/control/behaviour':
        this.#emulator.behaviour.change(behaviourSchema.parse(asked));
        return {};
      case '/control/announce':
        this.#announce(announcementSchema.parse(asked));
        return {};
      case '/control/queue': {
        const { name, region } = queueSchema.parse(asked);
        return { url: await this.bus.openQueue(name, region) };
      }
      case '/control/image': {
        const { imageId, ...image } = imageSchema.parse(asked);
        this.fleet.install(imageId, image);
        return {};
      }
      default:
        throw new Error(`there is no ${path}`);
    }
  }

  #launched(id: string, query: Ec2Query): void {
    const { parameters } = query;
    this.#metadata.place(
      id,
      parameters['InstanceType'] ?? '',
      parameters['Placement.AvailabilityZone'] ?? '',
    );
    this.bus.emit(regionOf(query), ...stateChanges(id, ['pending', 'running']));
    this.fleet.boot(id, parameters['ImageId'] ?? '', userDataField(query, 'role'));
  }

  /** Tells the instance's metadata and EventBridge, and ends the instance when its time has come, as AWS does. */
  #announce({ instanceId, kind, region, inMs }: z.infer<typeof announcementSchema>): void {
    const nowMs = Date.now();
    const at = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
    if (kind === 'rebalance') {
      this.#metadata.announce(instanceId, { rebalance: { noticeTime: at(nowMs) } });
      this.bus.emit(region, { type: 'EC2 Instance Rebalance Recommendation', instanceId, detail: {} });
      return;
    }
    this.#metadata.announce(instanceId, { action: { action: 'terminate', time: at(nowMs + inMs) } });
    this.bus.emit(region, {
      type: 'EC2 Spot Instance Interruption Warning',
      instanceId,
      detail: { 'instance-action': 'terminate' },
    });
    const authorization = `AWS4-HMAC-SHA256 Credential=keelson/20260101/${region}/ec2/aws4_request, SignedHeaders=host, Signature=0`;
    setTimeout(() => {
      const end = queryLike({ authorization }, 'TerminateInstances', { 'InstanceId.1': instanceId });
      this.#emulator
        .answer(end)
        .catch((error: unknown) => console.error(`${instanceId} was not ended:`, error));
    }, inMs).unref();
  }
}

const done = (value: object): Answer => ({ status: 200, body: JSON.stringify(value) });

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
