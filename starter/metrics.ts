import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';

/** What the starter counts. */
export interface StarterMetrics {
  readonly registry: Registry;
  readonly events: Counter<'kind' | 'news'>;
  readonly hints: Counter<'lifecycle' | 'outcome'>;
  readonly pending: Gauge;
  readonly watchFailures: Counter<'kind' | 'what'>;
  readonly leader: Gauge;
  readonly parked: Gauge<'lifecycle'>;
  readonly reports: Counter<'reason'>;
}

/** One registry for one starter, so that several can live in one process. */
export function createMetrics(): StarterMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    events: new Counter({
      name: 'keelson_starter_events_total',
      help: 'Objects seen, by kind and by what was new about them.',
      labelNames: ['kind', 'news'],
      registers,
    }),
    hints: new Counter({
      name: 'keelson_starter_hints_total',
      help: 'Hints to entities, by what became of them.',
      labelNames: ['lifecycle', 'outcome'],
      registers,
    }),
    pending: new Gauge({
      name: 'keelson_starter_hints_pending',
      help: 'Hints that wait for their time or for Temporal.',
      registers,
    }),
    watchFailures: new Counter({
      name: 'keelson_starter_watch_failures_total',
      help: 'Lists and watches that failed or stalled, and objects that could not be read.',
      labelNames: ['kind', 'what'],
      registers,
    }),
    leader: new Gauge({
      name: 'keelson_starter_leader',
      help: '1 while this replica leads.',
      registers,
    }),
    parked: new Gauge({
      name: 'keelson_starter_parked_workflows',
      help: 'Workflows whose task fails again and again.',
      labelNames: ['lifecycle'],
      registers,
    }),
    reports: new Counter({
      name: 'keelson_starter_reports_total',
      help: 'Conditions written to resources by the starter itself.',
      labelNames: ['reason'],
      registers,
    }),
  };
}
