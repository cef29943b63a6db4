import type { KubeConfig } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { ResourceRef } from '../workflows/shared/messages.ts';
import type { HintDeliveryOptions } from './hint-delivery.ts';
import type { HintPace } from './hint-schedule.ts';
import { Informer } from './informer.ts';
import type { Change, InformerTimes } from './informer.ts';
import { KubernetesApi } from './kubernetes-api.ts';
import { LeaderElection } from './leader-election.ts';
import type { LeaderElectionOptions } from './leader-election.ts';
import { createMetrics } from './metrics.ts';
import type { StarterMetrics } from './metrics.ts';
import { repeatRounds } from './parked-workflows.ts';
import { ParkedReport } from './parked-report.ts';
import { refuseObject } from './object-check.ts';
import { sightingOf } from './sighting.ts';
import type { Sighting } from './sighting.ts';
import { Trigger } from './trigger.ts';
import type { Source } from './trigger.ts';
import { changesFor, namesIn } from './named-objects.ts';
import type { Existence } from './trigger-decision.ts';
import { fieldOf, textOf } from './object-field.ts';
import { resourcePath } from './watch-definition.ts';
import type { KubernetesObject, LifecycleWatch, SecondaryWatch } from './watch-definition.ts';

export interface StarterOptions {
  readonly kubeConfig: KubeConfig;
  readonly client: Client;
  readonly watches: readonly LifecycleWatch[];
  readonly log: Logger;
  readonly lease: Pick<LeaderElectionOptions, 'namespace' | 'name' | 'identity'> &
    Partial<Pick<LeaderElectionOptions, 'leaseMs' | 'renewDeadlineMs' | 'everyMs'>>;
  readonly times?: InformerTimes;
  readonly pace?: HintPace;
  readonly awayReportMs?: number;
  readonly delivery?: HintDeliveryOptions;
  readonly parkedEveryMs?: number;
}

interface Watched {
  readonly source: Source;
  readonly informer: Informer<Sighting>;
}

/** The trigger service: watches resources and tells the workflows that own them. */
export class Starter {
  readonly metrics: StarterMetrics = createMetrics();
  readonly #options: StarterOptions;
  readonly #api: KubernetesApi;
  readonly #election: LeaderElection;
  readonly #trigger: Trigger;
  readonly #watched: readonly Watched[];
  readonly #ended: string[] = [];

  constructor(options: StarterOptions) {
    this.#options = options;
    this.#api = new KubernetesApi(options.kubeConfig);
    this.#election = new LeaderElection({
      api: this.#api,
      ...options.lease,
      changed: (leading) => this.#leadershipChanged(leading),
      failed: (error) => options.log.warn({ err: error }, 'could not renew the lease'),
    });
    this.#trigger = new Trigger({
      api: this.#api,
      client: options.client,
      log: options.log,
      metrics: this.metrics,
      elected: () => this.#election.elected,
      leading: () => this.#election.leading,
      existence: (watch, owner) => this.#existence(watch, owner),
      ...(options.delivery === undefined ? {} : { delivery: options.delivery }),
      ...(options.pace === undefined ? {} : { pace: options.pace }),
      ...(options.awayReportMs === undefined ? {} : { awayReportMs: options.awayReportMs }),
    });
    this.#watched = options.watches.flatMap((watch) => this.#watchLifecycle(watch));
  }

  get leading(): boolean {
    return this.#election.leading;
  }

  /** Why it is not ready: before it has listed everything once it knows too little. */
  notReady(): readonly string[] {
    return this.#watched
      .filter(({ informer }) => informer.state === 'starting')
      .map(({ source }) => `the first list of ${source.type.plural} is not there yet`);
  }

  /** Why it should be restarted: a loop that never ends has ended. */
  notLive(): readonly string[] {
    return this.#ended;
  }

  /** Runs until the signal, then lets what is under way end and gives the lease back. */
  async run(signal: AbortSignal): Promise<void> {
    const parked = new ParkedReport({
      api: this.#api,
      client: this.#options.client,
      log: this.#options.log,
      metrics: this.metrics,
      primaries: () =>
        this.#watched
          .filter(({ source }) => source.role === 'primary')
          .flatMap(({ source, informer }) => informer.known.map((sighting) => ({ source, sighting }))),
    });
    const loops = [
      ...this.#watched.map(({ source, informer }) =>
        this.#keep(`the watch of ${source.type.plural}`, informer.run(signal), signal),
      ),
      this.#keep('the election', this.#election.run(signal), signal),
      this.#keep(
        'the watch for parked workflows',
        repeatRounds(
          this.#options.parkedEveryMs ?? 30_000,
          signal,
          async () => {
            if (this.#election.leading) await parked.round(signal);
          },
          (error) => this.#options.log.warn({ err: error }, 'could not look for parked workflows'),
        ),
        signal,
      ),
    ];
    await Promise.all(loops);
    await this.#trigger.stop();
  }

  async #keep(what: string, loop: Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await loop;
    } catch (error) {
      this.#options.log.error({ err: error }, `${what} has failed`);
    }
    if (!signal.aborted) this.#ended.push(`${what} has ended`);
  }

  #leadershipChanged(leading: boolean): void {
    this.metrics.leader.set(leading ? 1 : 0);
    this.#options.log.info(
      { identity: this.#options.lease.identity, leading },
      leading ? 'leading' : 'not leading',
    );
    if (!leading) {
      this.#trigger.clear();
      return;
    }
    // Whatever happened while nobody led is caught up by telling every entity once.
    for (const { source, informer } of this.#watched)
      for (const now of informer.known)
        this.#trigger.changed(source, { is: 'seen', now, before: null, resync: true });
  }

  #watchLifecycle(watch: LifecycleWatch): readonly Watched[] {
    const primary: Source = { watch, type: watch.primary, role: 'primary' };
    return [
      this.#watchType(primary, {}),
      ...watch.secondaries.map((type) => this.#watchType({ watch, type, role: type.is }, type)),
    ];
  }

  #watchType(source: Source, secondary: Partial<SecondaryWatch>): Watched {
    const { watch, type } = source;
    const owner = secondary.owner ?? ownReference;
    const informer = new Informer<Sighting>({
      api: this.#api,
      path: resourcePath(type),
      project: (object) => ({
        ...sightingOf(type, object, {
          owner: (one) => ownerOrNone(owner, one),
          refuse: (one) => (source.role === 'part' ? null : refuseObject(watch, one, owner)),
          ...(secondary.news === undefined ? {} : { news: secondary.news }),
        }),
        ...(source.role === 'primary' ? { names: namesIn(watch, object) } : {}),
      }),
      changed: (change) => {
        if (secondary.namedBy === undefined) this.#trigger.changed(source, change);
        else this.#tellWhoNames(source, change);
        if (source.role === 'primary' && change.is === 'seen' && change.before === null)
          this.#reconsiderWishes(watch, change.now);
      },
      failed: (what, error) => {
        this.metrics.watchFailures.inc({ kind: type.kind, what });
        this.#options.log.warn({ kind: type.kind, what, err: error }, 'watching goes on after a failure');
      },
      ...(secondary.labelSelector === undefined ? {} : { labelSelector: secondary.labelSelector }),
      ...(this.#options.times === undefined ? {} : { times: this.#options.times }),
    });
    return { source, informer };
  }

  /** What several resources name concerns each of them. */
  #tellWhoNames(source: Source, change: Change<Sighting>): void {
    const primary = this.#watched.find(
      (one) => one.source.watch === source.watch && one.source.role === 'primary',
    );
    for (const one of changesFor(primary?.informer.known ?? [], change)) this.#trigger.changed(source, one);
  }

  #existence(watch: LifecycleWatch, owner: ResourceRef): Existence {
    const primary = this.#watched.find(({ source }) => source.watch === watch && source.role === 'primary');
    if (primary?.informer.find(owner.namespace, owner.name) != null) return 'there';
    return primary?.informer.state === 'synced' ? 'absent' : 'unsure';
  }

  /** A wish that came before the resource that it is for was refused: it is looked at again once that is there. */
  #reconsiderWishes(watch: LifecycleWatch, owner: Sighting): void {
    for (const { source, informer } of this.#watched) {
      if (source.watch !== watch || source.role !== 'wish') continue;
      for (const now of informer.known)
        if (now.owner?.namespace === owner.namespace && now.owner.name === owner.name)
          this.#trigger.changed(source, { is: 'seen', now, before: now, resync: true });
    }
  }
}

/** An object whose owner cannot be read has none; a wish is then refused with the reason. */
function ownerOrNone(owner: SecondaryWatch['owner'], object: KubernetesObject): ResourceRef | null {
  try {
    return owner(object);
  } catch {
    // The check of the object asks again, and puts the error into its condition.
    return null;
  }
}

function ownReference(object: KubernetesObject): { namespace: string; name: string } {
  const metadata = fieldOf(object, 'metadata');
  return { namespace: textOf(metadata, 'namespace') ?? '', name: textOf(metadata, 'name') ?? '' };
}
