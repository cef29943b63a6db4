import { CancelledFailure } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { FailureCode } from '../../workflows/shared/failure-codes.ts';
import { failure } from '../../workflows/shared/failures.ts';

const of = (code: FailureCode, ...names: readonly string[]): readonly (readonly [string, FailureCode])[] =>
  names.map((name) => [name, code] as const);

/** What the codes of EC2 mean. Capacity is answered by another pool, never by waiting. */
const CODES: ReadonlyMap<string, FailureCode> = new Map([
  ...of(
    'Ec2NoCapacity',
    'InsufficientInstanceCapacity',
    'InsufficientHostCapacity',
    'InsufficientReservedInstanceCapacity',
    'MaxSpotInstanceCountExceeded',
    'VcpuLimitExceeded',
    'InstanceLimitExceeded',
    'UnfulfillableCapacity',
    'Unsupported',
    'InsufficientFreeAddressesInSubnet',
    'MaxFleetCountExceeded',
    'SpotMaxPriceTooLow',
  ),
  ...of(
    'Ec2Unavailable',
    'RequestLimitExceeded',
    'Throttling',
    'ThrottlingException',
    'RequestThrottled',
    'InternalError',
    'InternalFailure',
    'ServiceUnavailable',
    'Unavailable',
    'RequestExpired',
  ),
  ...of('Ec2NotVisible', 'InvalidInstanceID.NotFound'),
  ...of(
    'Ec2Forbidden',
    'UnauthorizedOperation',
    'AuthFailure',
    'AccessDenied',
    'OptInRequired',
    'Blocked',
    'InvalidClientTokenId',
    'ExpiredToken',
    'SignatureDoesNotMatch',
    'PendingVerification',
    'CredentialsProviderError',
  ),
]);

/** Names the failure that an error of EC2, or of the way to it, stands for. */
export function classify(error: unknown): FailureCode {
  if (!(error instanceof Error)) return 'Ec2Unavailable';
  const known = CODES.get(error.name);
  if (known !== undefined) return known;
  const status = statusOf(error);
  // What EC2 has judged and refused will be refused again until it is asked for something else.
  return status !== null && status >= 400 && status < 500 ? 'Ec2Invalid' : 'Ec2Unavailable';
}

/** Turns whatever was thrown into the failure to throw on; failures and cancellations stay what they are. */
export function asEc2Failure(error: unknown): Error {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return failure(classify(error), words);
}

function statusOf(error: Error): number | null {
  const metadata: unknown = '$metadata' in error ? error.$metadata : null;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return null;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : null;
}
