import { setTimeout as sleep } from 'node:timers/promises';
import { V1MicroTime } from '@kubernetes/client-node';
import type { KubernetesApi } from './kubernetes-api.ts';
import { isRefusal } from './kubernetes-refusal.ts';
import { decideLease, leads, remember } from './lease-decision.ts';
import type { LeaseMemory, LeaseRecord } from './lease-decision.ts';
import { fieldOf, textOf } from './object-field.ts';
import { resourcePath } from './watch-definition.ts';

export interface LeaderElectionOptions {
  readonly api: KubernetesApi;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly leaseMs?: number;
  readonly renewDeadlineMs?: number;
  readonly everyMs?: number;
  readonly changed: (leading: boolean) => void;
  readonly failed: (error: unknown) => void;
}

const LEASES = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' } as const;

/** Holds a Lease, or waits for it: of several replicas one leads. */
export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #leaseMs: number;
  readonly #renewDeadlineMs: number;
  readonly #everyMs: number;
  #memory: LeaseMemory | null = null;
  #renewedAtMs: number | null = null;
  #told = false;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? 15_000;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.#everyMs = options.everyMs ?? 2_000;
  }

  /** Whether this replica was last told to lead: between that and the next telling it misses nothing. */
  get elected(): boolean {
    return this.#told;
  }

  /** Whether this replica may signal at this very moment: asked before every signal. */
  get leading(): boolean {
    return leads(this.#renewedAtMs, this.#renewDeadlineMs, Date.now());
  }

  /** Runs until the signal, and then gives the lease back. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#round(signal);
      } catch (error) {
        if (!signal.aborted) this.#options.failed(error);
      }
      this.#tell();
      await sleep(this.#everyMs, undefined, { signal }).catch(() => undefined);
    }
    await this.#release();
  }

  async #round(signal: AbortSignal): Promise<void> {
    const record = await this.#read(signal);
    this.#memory = record === null ? null : remember(this.#memory, record, Date.now());
    const decision = decideLease(this.#memory, this.#options.identity, Date.now());
    if (decision === 'wait') {
      this.#renewedAtMs = null;
      return;
    }
    // The time before the request counts: a slow answer must not make the lease look younger than it is.
    const askedAtMs = Date.now();
    try {
      await this.#write(decision, record, this.#options.identity, signal);
      this.#renewedAtMs = askedAtMs;
    } catch (error) {
      if (!isRefusal(error, 409)) throw error;
      this.#renewedAtMs = null;
    }
  }

  async #read(signal: AbortSignal): Promise<LeaseRecord | null> {
    try {
      return recordOf(
        await this.#options.api.request(this.#path(this.#options.name), { signal, timeoutMs: this.#callMs }),
      );
    } catch (error) {
      if (isRefusal(error, 404)) return null;
      throw error;
    }
  }

  async #write(
    decision: 'create' | 'renew' | 'take',
    record: LeaseRecord | null,
    holder: string,
    signal?: AbortSignal,
  ): Promise<void> {
    const transitions = (record?.transitions ?? 0) + (decision === 'take' ? 1 : 0);
    await this.#options.api.request(this.#path(decision === 'create' ? undefined : this.#options.name), {
      method: decision === 'create' ? 'POST' : 'PUT',
      body: {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: {
          name: this.#options.name,
          namespace: this.#options.namespace,
          ...(record === null ? {} : { resourceVersion: record.resourceVersion }),
        },
        spec: {
          holderIdentity: holder,
          leaseDurationSeconds: Math.max(Math.ceil(this.#leaseMs / 1000), 1),
          renewTime: new V1MicroTime(),
          leaseTransitions: transitions,
        },
      },
      timeoutMs: this.#callMs,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** So that the next replica need not wait for the lease to run out. */
  async #release(): Promise<void> {
    const led = this.leading;
    this.#renewedAtMs = null;
    this.#tell();
    if (!led) return;
    try {
      const record = await this.#read(AbortSignal.timeout(this.#callMs));
      if (record?.holder === this.#options.identity) await this.#write('renew', record, '');
    } catch (error) {
      this.#options.failed(error);
    }
  }

  #tell(): void {
    const leading = this.leading;
    if (leading === this.#told) return;
    this.#told = leading;
    this.#options.changed(leading);
  }

  get #callMs(): number {
    return Math.min(this.#renewDeadlineMs / 2, 5_000);
  }

  #path(name: string | undefined): string {
    return resourcePath(LEASES, {
      namespace: this.#options.namespace,
      ...(name === undefined ? {} : { name }),
    });
  }
}

function recordOf(lease: unknown): LeaseRecord {
  const spec = fieldOf(lease, 'spec');
  return {
    holder: textOf(spec, 'holderIdentity') ?? '',
    durationMs: Number(fieldOf(spec, 'leaseDurationSeconds') ?? 15) * 1000,
    renewTime: textOf(spec, 'renewTime') ?? '',
    transitions: Number(fieldOf(spec, 'leaseTransitions') ?? 0),
    resourceVersion: textOf(fieldOf(lease, 'metadata'), 'resourceVersion') ?? '',
  };
}
