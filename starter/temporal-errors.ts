import {
  NamespaceNotFoundError,
  ServiceError,
  WorkflowNotFoundError,
  isGrpcServiceError,
} from '@temporalio/client';
import { KubernetesRefusal } from './kubernetes-refusal.ts';
import type { DeliveryFailure } from './hint-queue.ts';

/** The gRPC codes with which a server says that this very request will not do: INVALID_ARGUMENT, NOT_FOUND and so on. */
const REFUSALS: ReadonlySet<number> = new Set([3, 5, 6, 7, 9, 11, 12, 16]);

/** Why a hint did not arrive. What is neither a refusal of Temporal nor one of Kubernetes counts as being away. */
export function classifyDelivery(error: unknown): DeliveryFailure {
  if (error instanceof KubernetesRefusal)
    return error.status >= 500 || error.status === 429 ? 'away' : 'refused';
  if (error instanceof NamespaceNotFoundError) return 'refused';
  const code = grpcCodeOf(error);
  return code !== null && REFUSALS.has(code) ? 'refused' : 'away';
}

/** The workflow to which a message was sent is not there, or has ended. */
export const isWorkflowGone = (error: unknown): boolean => error instanceof WorkflowNotFoundError;

/** The gRPC code of an error or of what caused it. */
export function grpcCodeOf(error: unknown): number | null {
  const candidates = [error, error instanceof ServiceError ? error.cause : undefined];
  for (const candidate of candidates) if (isGrpcServiceError(candidate)) return candidate.code;
  return null;
}
