import { randomUUID } from 'node:crypto';
import { ApiError } from '../../kubernetes/api.ts';
import type { NodeContext } from './context.ts';
import { Registration } from './registration.ts';
import type { NodeIdentity } from './registration.ts';

/** `lost`: nobody hears from it, its containers run on. `killed`: its containers are dead too. */
export type NodeState = 'ready' | 'lost' | 'killed';

const leaseMs = 2_000;
const statusMs = 10_000;
const retryMs = 500;

/** One Node object, alive for as long as its heartbeats come. */
export class LocalNode {
  readonly name: string;
  private readonly registration: Registration;
  private readonly log: NodeContext['log'];
  private current: NodeState;
  private bootId = randomUUID();
  private registered = false;
  private busy = false;
  private statusAtMs = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(api: NodeContext['api'], identity: NodeIdentity, state: NodeState, log: NodeContext['log']) {
    this.name = identity.name;
    this.log = log;
    this.current = state;
    this.registration = new Registration(api, identity, () => this.bootId);
  }

  get state(): NodeState {
    return this.current;
  }

  /** Begins the heartbeats. */
  start(): void {
    void this.beat();
  }

  /** Ends the heartbeats and all acting, because the process ends. */
  stop(): void {
    clearTimeout(this.timer);
    this.current = 'lost';
  }

  /** Changes the state; a node that comes back from a kill has booted anew, and registers again. */
  change(state: NodeState): void {
    if (this.current === 'killed' && state === 'ready') this.bootId = randomUUID();
    this.current = state;
    this.registered = false;
    if (state === 'ready' && !this.busy) void this.beat();
  }

  private async beat(): Promise<void> {
    clearTimeout(this.timer);
    if (this.current !== 'ready') return;
    this.busy = true;
    let waitMs = leaseMs;
    try {
      if (!this.registered) await this.registration.register();
      this.registered = true;
      await this.registration.renewLease();
      if (Date.now() - this.statusAtMs >= statusMs) {
        this.statusAtMs = Date.now();
        await this.registration.writeStatus();
      }
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) this.registered = false;
      this.log(`node ${this.name} cannot reach the API server`, error);
      waitMs = retryMs;
    }
    this.busy = false;
    this.timer = setTimeout(() => void this.beat(), waitMs);
  }
}
