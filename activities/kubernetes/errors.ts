import { CancelledFailure } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { failure } from '../../workflows/shared/failures.ts';
import type { FailureCode } from '../../workflows/shared/failure-codes.ts';

/** An answer of the API server that is not a success, with the words of its `Status`. */
export class KubernetesError extends Error {
  override readonly name = 'KubernetesError';
  readonly code: number;
  readonly reason: string;
  readonly request: string;

  constructor(code: number, reason: string, message: string, request: string) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.request = request;
  }
}

/** Whether the object, or its kind, is not there. */
export const isNotFound = (error: unknown): boolean => error instanceof KubernetesError && error.code === 404;

/** Whether the right to ask is lacking. */
export const isForbidden = (error: unknown): boolean =>
  error instanceof KubernetesError && error.code === 403;

/** Whether somebody else was first: another uid, another version, or a field that is not ours. */
export const isConflict = (error: unknown): boolean => error instanceof KubernetesError && error.code === 409;

/** Names the failure that an error of the API server, or of the way to it, stands for. */
export function classify(error: unknown): FailureCode {
  if (!(error instanceof KubernetesError)) return 'KubernetesUnavailable';
  // Credentials are renewed behind our back, so that one which is not accepted now may be in a moment.
  if (error.code === 401) return 'KubernetesUnavailable';
  if (error.code === 403)
    return /is being terminated/.test(error.message) ? 'ResourceGone' : 'KubernetesForbidden';
  if (error.code === 404) return 'ResourceGone';
  if (error.code === 409) return 'KubernetesConflict';
  if (error.code === 400 || error.code === 413 || error.code === 415 || error.code === 422)
    return 'KubernetesInvalid';
  return 'KubernetesUnavailable';
}

/** Turns whatever was thrown into the failure to throw on; failures and cancellations stay what they are. */
export function asKubernetesFailure(error: unknown): Error {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  return failure(classify(error), describe(error));
}

function describe(error: unknown): string {
  if (error instanceof KubernetesError) return `${error.request}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
