import { failure } from './failures.ts';

/**
 * Refuses in words what a person may have typed beside the reference, before anything is made of it: wrong input fails
 * the start, it does not park the workflow.
 */
export function refuseWrongSettings(input: { readonly tuning?: unknown; readonly carried?: unknown }): void {
  const { tuning, carried } = input;
  refuseWrongTuning(tuning);
  if (carried === undefined) return;
  const version = isRecord(carried) ? carried['version'] : undefined;
  if (typeof version !== 'number')
    throw failure('InvalidInput', '"carried" is what the workflow hands on to itself: leave it out');
  // A newer worker may have written it: this run waits for one that can read it.
  if (version !== 1)
    throw new Error(`the remembered state has version ${version}, which this worker does not know`);
}

/** A setting that this version does not know is left alone: a newer one may have written it. */
function refuseWrongTuning(tuning: unknown): void {
  if (tuning === undefined) return;
  if (!isRecord(tuning))
    throw failure('InvalidInput', '"tuning" must be an object such as {"driftMs": 60000}, or left out');
  for (const [name, value] of Object.entries(tuning))
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 1)
      throw failure(
        'InvalidInput',
        `"tuning.${name}" must be a number of at least 1, not ${JSON.stringify(value)}`,
      );
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
