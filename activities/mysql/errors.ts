import { CancelledFailure } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { FailureCode } from '../../workflows/shared/failure-codes.ts';
import { failure } from '../../workflows/shared/failures.ts';

/** What the server's error numbers mean; MariaDB and MySQL share them. */
const NUMBERS: Readonly<Record<number, FailureCode>> = {
  1040: 'MysqlUnavailable',
  1053: 'MysqlUnavailable',
  1152: 'MysqlUnavailable',
  1158: 'MysqlUnavailable',
  1159: 'MysqlUnavailable',
  1160: 'MysqlUnavailable',
  1161: 'MysqlUnavailable',
  1203: 'MysqlUnavailable',
  1205: 'MysqlBusy',
  1213: 'MysqlBusy',
  1290: 'MysqlUnavailable',
  1317: 'MysqlBusy',
  1836: 'MysqlUnavailable',
  1927: 'MysqlUnavailable',
  1969: 'MysqlBusy',
  3024: 'MysqlBusy',
  // The unique key of the PRIMARY's slot: somebody else is PRIMARY already.
  1062: 'VersionConflict',
  1049: 'MysqlSchema',
  1054: 'MysqlSchema',
  1146: 'MysqlSchema',
  1305: 'MysqlSchema',
};

/** What the procedure says with the number of a user's own error. */
const SIGNALLED = 1644;
const WORDS: readonly (readonly [RegExp, FailureCode])[] = [
  [/^version conflict$/, 'VersionConflict'],
  [/^unknown agent$/, 'ResourceGone'],
  [/^instance cannot be promoted/, 'NotPromotable'],
];

/** Names the failure that an error of the database, or of the way to it, stands for. */
export function classify(error: unknown): FailureCode {
  if (!(error instanceof Error)) return 'MysqlUnavailable';
  const number = 'errno' in error && typeof error.errno === 'number' ? error.errno : 0;
  // The system's own numbers are negative, and a client's error has none: there was no answer.
  if (number <= 0 || !('sqlState' in error)) return 'MysqlUnavailable';
  if (number === SIGNALLED)
    return WORDS.find(([pattern]) => pattern.test(error.message))?.[1] ?? 'MysqlRefused';
  return NUMBERS[number] ?? 'MysqlRefused';
}

/** Turns whatever was thrown into the failure to throw on; failures and cancellations stay what they are. */
export function asMysqlFailure(error: unknown): Error {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  return failure(classify(error), error instanceof Error ? error.message : String(error));
}
