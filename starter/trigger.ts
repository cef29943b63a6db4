import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { entityId } from '../workflows/shared/messages.ts';
import type { ResourceRef } from '../workflows/shared/messages.ts';
import { applyFinalizer } from './finalizer.ts';
import { deliverFarewell, deliverHint } from './hint-delivery.ts';
import type { HintDeliveryOptions } from './hint-delivery.ts';
import { HintQueue } from './hint-queue.ts';
import type { HintPace } from './hint-schedule.ts';
import type { Change } from './informer.ts';
import type { KubernetesApi } from './kubernetes-api.ts';
import type { StarterMetrics } from './metrics.ts';
import { applyCondition, recordEvent } from './resource-report.ts';
import { hintOf } from './sighting.ts';
import type { Sighting } from './sighting.ts';
import { classifyDelivery, grpcCodeOf } from './temporal-errors.ts';
import { decideTrigger } from './trigger-decision.ts';
import type { Delivery, Existence, Role } from './trigger-decision.ts';
import { FINALIZER } from './watch-definition.ts';
import type { LifecycleWatch, ResourceType } from './watch-definition.ts';

/** Where a change was seen. */
export interface Source {
  readonly watch: LifecycleWatch;
  readonly type: ResourceType;
  readonly role: Role;
}

interface Parcel {
  readonly source: Source;
  readonly owner: ResourceRef;
  readonly sighting: Sighting;
  readonly delivery: Delivery;
}

export interface TriggerOptions {
  readonly api: KubernetesApi;
  readonly client: Client;
  readonly log: Logger;
  readonly metrics: StarterMetrics;
  /** Whether changes are taken in; when that begins, everything known is offered anew. */
  readonly elected: () => boolean;
  /** Whether hints may be sent right now; what is offered meanwhile waits. */
  readonly leading: () => boolean;
  readonly existence: (watch: LifecycleWatch, owner: ResourceRef) => Existence;
  readonly delivery?: HintDeliveryOptions;
  readonly pace?: HintPace;
  /** For how long the engine may be away before the resources that wait for it say so. */
  readonly awayReportMs?: number;
}

const AWAY_REPORT_MS = 30_000;
const AWAY_REPORTS_AT_ONCE = 20;
const ENGINE_AWAY =
  'Temporal does not answer, so that this change waits. It is tried again all the time, and carried out when Temporal is back.';

/** Turns changes into hints, and what cannot become one into a condition on the resource. */
export class Trigger {
  readonly #options: TriggerOptions;
  readonly #queue: HintQueue<Parcel>;
  /** The reports under way, by uid: those on one object follow each other, so that the last word is the newest. */
  readonly #reports = new Map<string, Promise<void>>();
  /** The uids of the objects on which a refused hint was reported: what was seen of them before does not show it. */
  readonly #refused = new Set<string>();

  constructor(options: TriggerOptions) {
    this.#options = options;
    this.#queue = new HintQueue<Parcel>({
      deliver: (key, parcel) => this.#deliver(key, parcel),
      classify: classifyDelivery,
      failed: (key, parcel, failure, error) => {
        options.metrics.hints.inc({ lifecycle: parcel.source.watch.lifecycle, outcome: failure });
        options.metrics.pending.set(this.#queue.pending);
        options.log.warn({ workflowId: key, err: error, failure }, 'hint not delivered, will be tried again');
        if (failure === 'away' && grpcCodeOf(error) !== null) this.#reportEngineAway();
        if (failure !== 'refused' || parcel.source.role === 'part') return;
        this.#refused.add(parcel.sighting.uid);
        this.#report(parcel.source, parcel.sighting, 'HintRefused', refusalMessage(key, error));
      },
      open: options.leading,
      ...(options.pace === undefined ? {} : { pace: options.pace }),
    });
  }

  get pending(): number {
    return this.#queue.pending;
  }

  get temporalAway(): boolean {
    return this.#queue.away;
  }

  /** Takes one change in. */
  changed(source: Source, change: Change<Sighting>): void {
    const sighting = change.is === 'gone' ? change.before : change.now;
    const decision = decideTrigger(source.role, change, (owner) =>
      this.#options.existence(source.watch, owner),
    );
    this.#options.metrics.events.inc({ kind: source.type.kind, news: decision.news });
    if (source.role === 'primary')
      this.#queue.setOperating(this.#keyOf(source, sighting), change.is === 'seen' && sighting.operating);
    if (!this.#options.elected() || decision.is === 'drop') return;
    if (decision.is === 'report') {
      this.#report(source, sighting, 'Invalid', decision.problem);
      return;
    }
    // Whatever was wrong with it has been put right; a hint that is still refused is reported again.
    if (sighting.reported.includes('Accepted') && change.is === 'seen') this.#withdraw(source, sighting);
    const key = entityId(source.watch.lifecycle, decision.owner);
    this.#queue.offer(key, {
      slot: decision.slot,
      urgent: decision.urgent,
      payload: { source, owner: decision.owner, sighting, delivery: decision.delivery },
    });
    this.#options.metrics.pending.set(this.#queue.pending);
  }

  /** Drops what waits, because another replica leads. */
  clear(): void {
    this.#queue.clear();
  }

  /** Ends all that is under way. */
  async stop(): Promise<void> {
    await this.#queue.stop();
    await Promise.all(this.#reports.values());
  }

  async #deliver(key: string, parcel: Parcel): Promise<void> {
    const { source, sighting } = parcel;
    const { api, client, metrics, log } = this.#options;
    const target = {
      workflowId: key,
      workflowType: source.watch.workflowType,
      kind: source.watch.primary.kind,
      ref: parcel.owner,
    };
    const hint = hintOf(sighting);
    if (parcel.delivery === 'signal') {
      await deliverFarewell(client, target, hint, this.#options.delivery);
    } else {
      const kept = source.role !== 'primary' || sighting.deleting || sighting.finalizers.includes(FINALIZER);
      // Without the finalizer a deletion could be missed: it goes on first. An object that is gone needs no hint.
      if (!kept && !(await applyFinalizer(api, source.type, sighting))) return;
      await deliverHint(client, target, hint, this.#options.delivery);
    }
    metrics.hints.inc({ lifecycle: source.watch.lifecycle, outcome: 'delivered' });
    metrics.pending.set(this.#queue.pending);
    log.info({ workflowId: key, hint, delivery: parcel.delivery }, 'hint delivered');
    if (this.#refused.delete(sighting.uid)) this.#withdraw(source, sighting);
  }

  /** Says on resources whose change waits that the engine is away; a few at a time, for the API server's sake. */
  #reportEngineAway(): void {
    if (this.#queue.awayMs < (this.#options.awayReportMs ?? AWAY_REPORT_MS)) return;
    const untold = this.#queue.urgent.filter(
      ({ source, sighting, delivery }) =>
        source.role !== 'part' && delivery !== 'signal' && !this.#refused.has(sighting.uid),
    );
    for (const { source, sighting } of untold.slice(0, AWAY_REPORTS_AT_ONCE)) {
      this.#refused.add(sighting.uid);
      this.#report(source, sighting, 'EngineAway', ENGINE_AWAY);
    }
  }

  #keyOf(source: Source, sighting: Sighting): string {
    return entityId(source.watch.lifecycle, { namespace: sighting.namespace, name: sighting.name });
  }

  #report(source: Source, sighting: Sighting, reason: string, message: string): void {
    const object = { ...sighting, type: source.type };
    this.#inBackground(sighting, async () => {
      const condition = { status: 'False', reason, message } as const;
      const changed = await applyCondition(this.#options.api, object, 'Accepted', condition);
      if (!changed) return;
      this.#options.metrics.reports.inc({ reason });
      await recordEvent(this.#options.api, object, { type: 'Warning', reason, message });
    });
  }

  #withdraw(source: Source, sighting: Sighting): void {
    const object = { ...sighting, type: source.type };
    this.#inBackground(sighting, async () => {
      await applyCondition(this.#options.api, object, 'Accepted', null);
    });
  }

  #inBackground(sighting: Sighting, work: () => Promise<void>): void {
    const { kind, namespace, name, uid } = sighting;
    const before = this.#reports.get(uid) ?? Promise.resolve();
    const task = before
      .then(work)
      .catch((error: unknown) =>
        this.#options.log.error({ kind, namespace, name, err: error }, 'could not report on the resource'),
      )
      .finally(() => {
        if (this.#reports.get(uid) === task) this.#reports.delete(uid);
      });
    this.#reports.set(uid, task);
  }
}

function refusalMessage(key: string, error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  const message = error instanceof Error ? `${error.message}${cause}` : String(error);
  return `The workflow ${key} could not be told of this resource (${message}); it is tried again until it works.`;
}
