import type { Sinks } from '@temporalio/workflow';
import type { Measures } from './port.ts';

/** The sinks that the worker injects: counts and times that become its metrics. */
export interface KeelsonSinks extends Sinks {
  readonly keelson: { readonly [Name in keyof Measures]: Measures[Name] };
}
