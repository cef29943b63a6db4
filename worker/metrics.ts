import type { InjectedSinks } from '@temporalio/worker';
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';
import type { PromotionMeasures } from '../activities/mysql/promote.ts';
import type { KeelsonSinks } from '../workflows/shared/sinks.ts';

/** From a tenth of a second to an hour: steps of an idle cluster and moves of large ones. */
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600];

/** The worker's own metrics, and the sinks through which workflows feed them. */
export interface WorkerMetrics {
  readonly registry: Registry;
  readonly sinks: InjectedSinks<KeelsonSinks>;
  /** The specification's metrics of spot promotions. */
  readonly promotions: PromotionMeasures;
}

/** A repetition on replay is not counted: the sinks are silent then. */
export function createMetrics(): WorkerMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const operations = new Counter({
    name: 'keelson_operations_total',
    help: 'Operations that ended, by what they did and how they ended.',
    labelNames: ['lifecycle', 'operation', 'outcome'],
    registers: [registry],
  });
  const operationSeconds = histogram('keelson_operation_seconds', 'How long operations took.', [
    'lifecycle',
    'operation',
    'outcome',
  ]);
  const stepSeconds = histogram('keelson_step_seconds', 'How long steps took.', [
    'lifecycle',
    'kind',
    'outcome',
  ]);
  const waitSeconds = histogram('keelson_wait_seconds', 'How long workflows waited, by what for.', [
    'lifecycle',
    'on',
  ]);
  const guardBlocks = new Counter({
    name: 'keelson_guard_blocks_total',
    help: 'Times that a guard refused a plan or a step.',
    labelNames: ['lifecycle', 'guard'],
    registers: [registry],
  });

  function histogram<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
  ): Histogram<Label> {
    return new Histogram({ name, help, labelNames, buckets: SECONDS, registers: [registry] });
  }

  return {
    registry,
    promotions: createPromotionMeasures(registry),
    sinks: {
      keelson: {
        operationEnded: {
          fn(_info, labels, seconds) {
            operations.inc(labels);
            operationSeconds.observe(labels, seconds);
          },
        },
        stepEnded: { fn: (_info, labels, seconds) => stepSeconds.observe(labels, seconds) },
        guardBlocked: { fn: (_info, labels) => guardBlocks.inc(labels) },
        waited: { fn: (_info, labels, seconds) => waitSeconds.observe(labels, seconds) },
      },
    },
  };
}

/** The specification's names, so that its queries and alerts work as they are written there. */
function createPromotionMeasures(registry: Registry): PromotionMeasures {
  const registers = [registry];
  const promotions = new Counter({
    name: 'instance_promotions_total',
    help: 'Instances that were promoted to PRIMARY.',
    registers,
  });
  const failures = new Counter({
    name: 'instance_promotion_failures_total',
    help: 'Promotions that failed, by the failure.',
    labelNames: ['reason'],
    registers,
  });
  const seconds = new Histogram({
    name: 'instance_promotion_duration_seconds',
    help: 'How long promotions took.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  return {
    promoted(took) {
      promotions.inc();
      seconds.observe(took);
    },
    failed: (reason) => failures.inc({ reason }),
  };
}
