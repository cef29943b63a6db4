import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { asMysqlFailure, classify } from '../../../activities/mysql/errors.ts';
import { FAILURES } from '../../../workflows/shared/failure-codes.ts';
import { failure } from '../../../workflows/shared/failures.ts';

/** An error as the driver throws it: the server's have a state, those of the way to it have none. */
const answered = (errno: number, message: string): Error =>
  Object.assign(new Error(message), { errno, sqlState: '45000' });

describe('an error of the database', () => {
  test.each([
    [1644, 'version conflict', 'VersionConflict', 'stale'],
    [1644, 'unknown agent', 'ResourceGone', 'stale'],
    [1644, 'instance cannot be promoted: it is no replica', 'NotPromotable', 'stale'],
    [1644, 'something of somebody else', 'MysqlRefused', 'permanent'],
    [1062, "Duplicate entry 'a-1' for key 'uq_instances_primary'", 'VersionConflict', 'stale'],
    [1205, 'Lock wait timeout exceeded', 'MysqlBusy', 'transient'],
    [1213, 'Deadlock found when trying to get lock', 'MysqlBusy', 'transient'],
    [1969, 'Query execution was interrupted (max_statement_time exceeded)', 'MysqlBusy', 'transient'],
    [1040, 'Too many connections', 'MysqlUnavailable', 'transient'],
    [1053, 'Server shutdown in progress', 'MysqlUnavailable', 'transient'],
    [1290, 'running with the --read-only option', 'MysqlUnavailable', 'transient'],
    [1146, "Table 'keelson.agents' doesn't exist", 'MysqlSchema', 'transient'],
    [1305, 'PROCEDURE keelson.promote_instance_to_primary does not exist', 'MysqlSchema', 'transient'],
    [1045, "Access denied for user 'keelson'", 'MysqlRefused', 'permanent'],
    [1142, "SELECT command denied to user 'keelson'", 'MysqlRefused', 'permanent'],
    [4025, 'CONSTRAINT `chk_instances_role` failed', 'MysqlRefused', 'permanent'],
    [1064, 'You have an error in your SQL syntax', 'MysqlRefused', 'permanent'],
  ] as const)('%i (%s) is %s, which is %s', (errno, message, code, kind) => {
    expect(classify(answered(errno, message))).toBe(code);
    expect(FAILURES[code].class).toBe(kind);
  });

  test.each([
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', errno: -111 }),
    Object.assign(new Error('Query inactivity timeout'), { code: 'PROTOCOL_SEQUENCE_TIMEOUT' }),
    Object.assign(new Error('Connection lost: The server closed the connection.'), {
      code: 'PROTOCOL_CONNECTION_LOST',
    }),
    'a text',
  ])('is unavailability when there was no answer (%s)', (error) => {
    expect(classify(error)).toBe('MysqlUnavailable');
  });

  test('keeps the words of the server, and a failure that has a name already', () => {
    expect(asMysqlFailure(answered(1644, 'version conflict'))).toMatchObject({
      type: 'VersionConflict',
      message: 'version conflict',
      nonRetryable: true,
    });
    const named = failure('ResourceGone', 'gone');
    expect(asMysqlFailure(named)).toBe(named);
    expect(asMysqlFailure(answered(1213, 'Deadlock'))).toBeInstanceOf(ApplicationFailure);
  });
});
