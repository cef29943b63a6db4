import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What AWS has announced for an instance. */
export interface Announcement {
  readonly action?: { readonly action: string; readonly time: string };
  readonly rebalance?: { readonly noticeTime: string };
}

const TOKEN_TTL = 'x-aws-ec2-metadata-token-ttl-seconds';
const TOKEN = 'x-aws-ec2-metadata-token';
const LONGEST_TTL_SECONDS = 21_600;

/** The metadata service of every emulated instance, by the second version of its protocol only. */
export class Metadata {
  readonly #places = new Map<string, { readonly instanceType: string; readonly az: string }>();
  readonly #announced = new Map<string, Announcement>();
  readonly #tokens = new Map<string, { readonly instanceId: string; readonly untilMs: number }>();

  /** Where an instance runs, and as what. */
  place(instanceId: string, instanceType: string, az: string): void {
    this.#places.set(instanceId, { instanceType, az });
  }

  announce(instanceId: string, announcement: Announcement): void {
    this.#announced.set(instanceId, { ...this.#announced.get(instanceId), ...announcement });
  }

  /** Answers a request below the instance's own path. */
  answer(instanceId: string, path: string, request: IncomingMessage): { status: number; body: string } {
    if (path === '/latest/api/token') return this.#issue(instanceId, request);
    const token = this.#tokens.get(String(request.headers[TOKEN] ?? ''));
    if (token === undefined || token.instanceId !== instanceId || token.untilMs < Date.now())
      return { status: 401, body: '' };
    const found = this.#value(instanceId, path);
    return found === undefined ? { status: 404, body: '' } : { status: 200, body: found };
  }

  #issue(instanceId: string, request: IncomingMessage): { status: number; body: string } {
    const seconds = Number(request.headers[TOKEN_TTL]);
    if (request.method !== 'PUT') return { status: 405, body: '' };
    if (!(seconds >= 1 && seconds <= LONGEST_TTL_SECONDS)) return { status: 400, body: '' };
    const token = randomUUID();
    this.#tokens.set(token, { instanceId, untilMs: Date.now() + seconds * 1000 });
    return { status: 200, body: token };
  }

  #value(instanceId: string, path: string): string | undefined {
    const announced = this.#announced.get(instanceId);
    switch (path) {
      case '/latest/meta-data/instance-id':
        return instanceId;
      case '/latest/meta-data/instance-type':
        return this.#places.get(instanceId)?.instanceType;
      case '/latest/meta-data/placement/availability-zone':
        return this.#places.get(instanceId)?.az;
      case '/latest/meta-data/spot/instance-action':
        return announced?.action === undefined ? undefined : JSON.stringify(announced.action);
      case '/latest/meta-data/spot/termination-time':
        return announced?.action?.time;
      case '/latest/meta-data/events/recommendations/rebalance':
        return announced?.rebalance === undefined ? undefined : JSON.stringify(announced.rebalance);
      default:
        return undefined;
    }
  }
}
