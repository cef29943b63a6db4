import { inspect } from 'node:util';
import { CancelledFailure } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import * as kubernetes from '../../../activities/kubernetes/errors.ts';
import * as valkey from '../../../activities/valkey/errors.ts';
import { failure } from '../../../workflows/shared/failures.ts';

describe('an error of the API server', () => {
  test.each([
    [400, 'BadRequest', 'the body is malformed', 'KubernetesInvalid'],
    [401, 'Unauthorized', 'Unauthorized', 'KubernetesUnavailable'],
    [403, 'Forbidden', 'pods is forbidden: User "worker" cannot list resource "pods"', 'KubernetesForbidden'],
    [
      403,
      'Forbidden',
      'unable to create new content in namespace x because it is being terminated',
      'ResourceGone',
    ],
    [404, 'NotFound', 'configmaps "x" not found', 'ResourceGone'],
    [409, 'Conflict', 'Operation cannot be fulfilled', 'KubernetesConflict'],
    [409, 'AlreadyExists', 'already exists', 'KubernetesConflict'],
    [413, '', 'Request entity too large', 'KubernetesInvalid'],
    [415, 'UnsupportedMediaType', 'unsupported', 'KubernetesInvalid'],
    [422, 'Invalid', 'spec.replicas: Invalid value', 'KubernetesInvalid'],
    [429, 'TooManyRequests', 'please try again later', 'KubernetesUnavailable'],
    [500, 'InternalError', 'etcdserver: leader changed', 'KubernetesUnavailable'],
    [502, '', 'Bad Gateway', 'KubernetesUnavailable'],
    [503, 'ServiceUnavailable', 'apiserver is shutting down', 'KubernetesUnavailable'],
    [
      504,
      'Timeout',
      'Timeout: request did not complete within the allotted timeout',
      'KubernetesUnavailable',
    ],
  ])('%i %s (%s) is %s', (code, reason, message, expected) => {
    expect(kubernetes.classify(new kubernetes.KubernetesError(code, reason, message, 'GET /x'))).toBe(
      expected,
    );
  });

  test.each([new TypeError('fetch failed'), new DOMException('aborted', 'TimeoutError'), 'a text'])(
    'is unavailability when there was no answer (%s)',
    (error) => expect(kubernetes.classify(error)).toBe('KubernetesUnavailable'),
  );

  test('names the request in its failure', () => {
    const error = new kubernetes.KubernetesError(404, 'NotFound', 'pods "x" not found', 'GET /api/v1/pods/x');
    expect(kubernetes.asKubernetesFailure(error)).toMatchObject({
      type: 'ResourceGone',
      nonRetryable: true,
      message: 'GET /api/v1/pods/x: pods "x" not found',
    });
  });
});

/** An error reply as the client throws it, with the command that it carries. */
const reply = (message: string): Error =>
  Object.assign(new Error(message), {
    name: 'ReplyError',
    command: { name: 'AUTH', args: ['default', 's3cret'] },
  });
const system = (code: string, message = `connect ${code}`): Error =>
  Object.assign(new Error(message), { code });
const seen = (error: unknown): valkey.ValkeyError =>
  new valkey.ValkeyError('cache-0-0', 'CLUSTER MEET', error);

describe('an error of a Valkey server', () => {
  test.each([
    [reply('NOAUTH Authentication required.'), 'ValkeyAuth'],
    [reply('WRONGPASS invalid username-password pair or user is disabled.'), 'ValkeyAuth'],
    [reply('ERR AUTH <password> called without any password configured for the default user.'), 'ValkeyAuth'],
    [reply("NOPERM User x has no permissions to run the 'cluster|meet' command"), 'ValkeyAcl'],
    [reply('LOADING Valkey is loading the dataset in memory'), 'ValkeyBusy'],
    [reply('BUSY Valkey is busy running a script.'), 'ValkeyBusy'],
    [reply('MASTERDOWN Link with MASTER is down'), 'ValkeyBusy'],
    [reply('ERR max number of clients reached'), 'ValkeyBusy'],
    [reply('CLUSTERDOWN The cluster is down'), 'ValkeyNotConverged'],
    [reply('NOREPLICAS Not enough good replicas to write.'), 'ValkeyNotConverged'],
    [reply('ERR Unknown node 0123'), 'ValkeyNotConverged'],
    [reply('ERR Primary is down or failed, please use CLUSTER FAILOVER FORCE'), 'ValkeyNotConverged'],
    [reply('ERR Master is down or failed, please use CLUSTER FAILOVER FORCE'), 'ValkeyNotConverged'],
    [reply("ERR I'm a replica but my primary is unknown to me"), 'ValkeyNotConverged'],
    [reply('ERR You should send CLUSTER FAILOVER to a replica'), 'ValkeyNotConverged'],
    [reply('ERR Slot 5 is already busy'), 'ValkeySlotBusy'],
    [reply('ERR Slots are not served by this node.'), 'ValkeySlotBusy'],
    [reply('ERR I am already migrating slot 12.'), 'ValkeySlotBusy'],
    [reply('ERR To set a master the node must be empty and without assigned slots.'), 'ValkeyRefused'],
    [reply('ERR unknown command'), 'ValkeyRefused'],
    [system('ECONNREFUSED'), 'ValkeyUnreachable'],
    [system('ECONNRESET'), 'ValkeyUnreachable'],
    [system('EHOSTUNREACH'), 'ValkeyUnreachable'],
    [new Error('Command timed out'), 'ValkeyUnreachable'],
    [new Error('connect ETIMEDOUT'), 'ValkeyUnreachable'],
    [new Error('Connection is closed.'), 'ValkeyUnreachable'],
    [new Error('Protocol error, got "H" as reply type byte'), 'ValkeyProtocol'],
    [system('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'), 'ValkeyProtocol'],
    [system('EPROTO', 'ssl3_get_record:wrong version number'), 'ValkeyProtocol'],
  ])('%s is %s', (error, expected) => expect(valkey.classify(seen(error))).toBe(expected));

  test('names pod and command, and nothing that the command carried', () => {
    const failed = valkey.asValkeyFailure(seen(reply('WRONGPASS invalid username-password pair')));
    expect(failed.message).toBe(
      'cache-0-0 answered CLUSTER MEET with: WRONGPASS invalid username-password pair',
    );
    expect(inspect([seen(reply('WRONGPASS x')), failed], { depth: null })).not.toContain('s3cret');
    expect(seen(reply('WRONGPASS x')).cause).toBeUndefined();
  });
});

test.each([kubernetes.asKubernetesFailure, valkey.asValkeyFailure])(
  'failures and cancellations stay what they are',
  (convert) => {
    const stale = failure('ResourceGone', 'gone');
    const cancelled = new CancelledFailure('cancelled');
    expect(convert(stale)).toBe(stale);
    expect(convert(cancelled)).toBe(cancelled);
    expect(convert(new Error('x'))).toBeInstanceOf(ApplicationFailure);
  },
);
