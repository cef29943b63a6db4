import { CancelledFailure } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { FailureCode } from '../../workflows/shared/failure-codes.ts';
import { failure } from '../../workflows/shared/failures.ts';

/**
 * An error of a server or of the way to it. It keeps the words and drops the client's own error, which carries the
 * command with its arguments and so could carry a password into a log.
 */
export class ValkeyError extends Error {
  override readonly name = 'ValkeyError';
  /** The first word of an error reply (`NOAUTH`), the system's code (`ECONNREFUSED`), or empty. */
  readonly code: string;
  readonly isReply: boolean;
  readonly pod: string;

  constructor(pod: string, command: string, error: unknown) {
    const { message, name, code } = wordsOf(error);
    super(`${pod} answered ${command} with: ${message.replace(SECRET_MODIFIER, "modifier '…'")}`);
    this.pod = pod;
    this.isReply = name === 'ReplyError';
    this.code = this.isReply ? (/^[A-Z]+/.exec(message)?.[0] ?? '') : code;
  }
}

/** A refusal repeats the rule that it refuses, and some rules are passwords. */
const SECRET_MODIFIER = /modifier '[<>#!][^']*'/;

function wordsOf(error: unknown): { readonly message: string; readonly name: string; readonly code: string } {
  if (!(error instanceof Error)) return { message: String(error), name: '', code: '' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return { message: error.message === '' ? code : error.message, name: error.name, code };
}

const REPLIES: Readonly<Record<string, FailureCode>> = {
  NOAUTH: 'ValkeyAuth',
  WRONGPASS: 'ValkeyAuth',
  NOPERM: 'ValkeyAcl',
  LOADING: 'ValkeyBusy',
  BUSY: 'ValkeyBusy',
  TRYAGAIN: 'ValkeyBusy',
  MASTERDOWN: 'ValkeyBusy',
  CLUSTERDOWN: 'ValkeyNotConverged',
  NOREPLICAS: 'ValkeyNotConverged',
  IOERR: 'ValkeyBusy',
};

/** Replies that all begin with ERR, by their words. */
const WORDS: readonly (readonly [RegExp, FailureCode])[] = [
  [/is already busy|already migrating|Slots are not served|not served by this node/, 'ValkeySlotBusy'],
  [/Unknown node|is not a master|not a primary|not empty|known nodes|already assigned/, 'ValkeyNotConverged'],
  // A manual failover that the moment forbids: the next look says whether somebody leads who can be asked.
  [
    /(master|primary) is (down or failed|unknown to me)|should send CLUSTER FAILOVER to a/i,
    'ValkeyNotConverged',
  ],
  [/called without any password|invalid password/i, 'ValkeyAuth'],
  [/max number of clients/, 'ValkeyBusy'],
];

const PROTOCOL = /protocol|unexpected|certificate|SSL|TLS|wrong version number/i;

/** Names the failure that an error of a server, or of the way to it, stands for. */
export function classify(error: unknown): FailureCode {
  if (!(error instanceof ValkeyError)) return 'ValkeyUnreachable';
  if (!error.isReply)
    return PROTOCOL.test(`${error.code} ${error.message}`) ? 'ValkeyProtocol' : 'ValkeyUnreachable';
  const byCode = REPLIES[error.code];
  if (byCode !== undefined) return byCode;
  return WORDS.find(([pattern]) => pattern.test(error.message))?.[1] ?? 'ValkeyRefused';
}

/** Turns whatever was thrown into the failure to throw on; failures and cancellations stay what they are. */
export function asValkeyFailure(error: unknown): Error {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  return failure(classify(error), error instanceof Error ? error.message : String(error));
}
