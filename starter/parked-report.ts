import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { KubernetesApi } from './kubernetes-api.ts';
import type { StarterMetrics } from './metrics.ts';
import { entityOf, parkedMessage, readParkedWorkflows } from './parked-workflows.ts';
import type { ParkedWorkflow } from './parked-workflows.ts';
import { applyCondition, recordEvent } from './resource-report.ts';
import type { Sighting } from './sighting.ts';
import type { Source } from './trigger.ts';

export interface ParkedReportOptions {
  readonly api: KubernetesApi;
  readonly client: Client;
  readonly log: Logger;
  readonly metrics: StarterMetrics;
  readonly primaries: () => readonly { readonly source: Source; readonly sighting: Sighting }[];
}

/** A parked workflow cannot speak for itself: it is reported on its resource, and the report is withdrawn when it goes on. */
export class ParkedReport {
  readonly #options: ParkedReportOptions;

  constructor(options: ParkedReportOptions) {
    this.#options = options;
  }

  /** Looks once, and reports what changed. */
  async round(signal: AbortSignal): Promise<void> {
    const parked = await readParkedWorkflows(this.#options.client, { signal });
    if (signal.aborted) return;
    this.#count(parked);
    for (const { source, sighting } of this.#options.primaries()) {
      const found = parked.find((one) => belongsTo(one, source, sighting));
      try {
        if (found !== undefined) await this.#report(source, sighting, found);
        else if (sighting.reported.includes('Parked')) await this.#withdraw(source, sighting);
      } catch (error) {
        const { kind, namespace, name } = sighting;
        this.#options.log.error(
          { kind, namespace, name, err: error },
          'could not report on a parked workflow',
        );
      }
    }
  }

  async #report(source: Source, sighting: Sighting, parked: ParkedWorkflow): Promise<void> {
    const object = { ...sighting, type: source.type };
    const message = parkedMessage(parked);
    const condition = { status: 'True', reason: 'WorkflowParked', message } as const;
    if (!(await applyCondition(this.#options.api, object, 'Parked', condition))) return;
    this.#options.log.error({ workflowId: parked.workflowId, attempt: parked.attempt }, 'workflow is parked');
    this.#options.metrics.reports.inc({ reason: 'WorkflowParked' });
    await recordEvent(this.#options.api, object, { type: 'Warning', reason: 'WorkflowParked', message });
  }

  async #withdraw(source: Source, sighting: Sighting): Promise<void> {
    const object = { ...sighting, type: source.type };
    if (!(await applyCondition(this.#options.api, object, 'Parked', null))) return;
    await recordEvent(this.#options.api, object, {
      type: 'Normal',
      reason: 'WorkflowGoesOn',
      message: 'The workflow is no longer parked.',
    });
  }

  #count(parked: readonly ParkedWorkflow[]): void {
    this.#options.metrics.parked.reset();
    for (const one of parked)
      this.#options.metrics.parked.inc({ lifecycle: entityOf(one.workflowId)?.lifecycle ?? 'unknown' });
  }
}

function belongsTo(parked: ParkedWorkflow, source: Source, sighting: Sighting): boolean {
  const entity = entityOf(parked.workflowId);
  return (
    entity !== null &&
    entity.lifecycle === source.watch.lifecycle &&
    entity.namespace === sighting.namespace &&
    entity.name === sighting.name
  );
}
