import { describe, expect, test } from 'vitest';
import { asEc2Failure, classify } from '../../../activities/ec2/errors.ts';
import { FAILURES } from '../../../workflows/shared/failure-codes.ts';

/** An error as the client throws it. */
const answered = (name: string, httpStatusCode: number): Error =>
  Object.assign(new Error('in EC2’s words'), { name, $metadata: { httpStatusCode } });

describe('an error of EC2', () => {
  test.each([
    ['InsufficientInstanceCapacity', 500, 'Ec2NoCapacity', 'stale'],
    ['MaxSpotInstanceCountExceeded', 400, 'Ec2NoCapacity', 'stale'],
    ['VcpuLimitExceeded', 400, 'Ec2NoCapacity', 'stale'],
    ['UnfulfillableCapacity', 400, 'Ec2NoCapacity', 'stale'],
    ['Unsupported', 400, 'Ec2NoCapacity', 'stale'],
    ['InsufficientFreeAddressesInSubnet', 400, 'Ec2NoCapacity', 'stale'],
    ['MaxFleetCountExceeded', 400, 'Ec2NoCapacity', 'stale'],
    ['SpotMaxPriceTooLow', 400, 'Ec2NoCapacity', 'stale'],
    ['RequestLimitExceeded', 503, 'Ec2Unavailable', 'transient'],
    ['InternalError', 500, 'Ec2Unavailable', 'transient'],
    ['SomethingNew', 500, 'Ec2Unavailable', 'transient'],
    ['InvalidInstanceID.NotFound', 400, 'Ec2NotVisible', 'notYet'],
    ['UnauthorizedOperation', 403, 'Ec2Forbidden', 'permanent'],
    ['AuthFailure', 401, 'Ec2Forbidden', 'permanent'],
    ['InvalidAMIID.NotFound', 400, 'Ec2Invalid', 'validation'],
    ['InvalidParameterValue', 400, 'Ec2Invalid', 'validation'],
    ['IdempotentParameterMismatch', 400, 'Ec2Invalid', 'validation'],
  ] as const)('%s (%i) is %s, which is %s', (name, status, code, kind) => {
    expect(classify(answered(name, status))).toBe(code);
    expect(FAILURES[code].class).toBe(kind);
  });

  test.each([
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('timed out'), { name: 'TimeoutError' }),
    'a text',
  ])('is unavailability when there was no answer (%s)', (error) => {
    expect(classify(error)).toBe('Ec2Unavailable');
  });

  test('keeps EC2’s code and words', () => {
    expect(asEc2Failure(answered('VcpuLimitExceeded', 400)).message).toBe(
      'VcpuLimitExceeded: in EC2’s words',
    );
  });
});
