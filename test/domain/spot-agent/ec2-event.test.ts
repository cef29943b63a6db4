import { describe, expect, it } from 'vitest';
import { readEc2Event } from '../../../starter/events/ec2-event.ts';

const TIME = '2026-11-16T12:00:00Z';
const NOW_MS = Date.parse(TIME) + 1_000;
const INSTANCE = 'i-0123456789abcdef0';

const event = (type: string, detail: object, change: object = {}): string =>
  JSON.stringify({
    version: '0',
    id: '7bf73129-1428-4cd3-a780-95db273d1602',
    'detail-type': type,
    source: 'aws.ec2',
    account: '123456789012',
    time: TIME,
    region: 'us-east-1',
    resources: [`arn:aws:ec2:us-east-1b:instance/${INSTANCE}`],
    detail,
    ...change,
  });

describe('an event of EC2', () => {
  it.each([
    ['EC2 Spot Instance Interruption Warning', { 'instance-action': 'terminate' }, 'termination'],
    ['EC2 Spot Instance Interruption Warning', { 'instance-action': 'hibernate' }, 'termination'],
    ['EC2 Instance Rebalance Recommendation', {}, 'rebalance'],
  ])('%s %j is a %s notice, with its own time', (type, detail, kind) => {
    expect(readEc2Event(event(type, { 'instance-id': INSTANCE, ...detail }), NOW_MS)).toEqual({
      is: 'notice',
      kind,
      instanceId: INSTANCE,
      timeMs: Date.parse(TIME),
    });
  });

  it('of a changed state says which', () => {
    const body = event('EC2 Instance State-change Notification', {
      'instance-id': INSTANCE,
      state: 'stopping',
    });
    expect(readEc2Event(body, NOW_MS)).toEqual({ is: 'state', instanceId: INSTANCE, state: 'stopping' });
  });

  it.each([
    ['another source', event('Anything', {}, { source: 'aws.health' }), 'it comes from aws.health'],
    [
      'another type',
      event('EC2 Spot Instance Request Fulfillment', { 'instance-id': INSTANCE }),
      'nothing is done about "EC2 Spot Instance Request Fulfillment"',
    ],
  ])('of %s is foreign', (_, body, reason) => {
    expect(readEc2Event(body, NOW_MS)).toEqual({ is: 'foreign', reason });
  });

  it.each([
    ['no JSON', 'hello', /not JSON/],
    ['null', 'null', /it: /],
    ['no envelope', '{}', /source: /],
    ['no time', event('EC2 Instance Rebalance Recommendation', {}, { time: 'soon' }), /time: /],
    [
      'a time that is longer ago than a queue keeps anything',
      event('EC2 Instance Rebalance Recommendation', {}, { time: '2026-11-01T12:00:00Z' }),
      /not of these days/,
    ],
    [
      'a time that is to come',
      event('EC2 Instance Rebalance Recommendation', {}, { time: '2026-11-16T12:10:00Z' }),
      /not of these days/,
    ],
    ['no instance', event('EC2 Spot Instance Interruption Warning', {}), /instance-id: /],
    [
      'an instance that cannot be',
      event('EC2 Spot Instance Interruption Warning', { 'instance-id': "i-1' OR 1" }),
      /instance-id: /,
    ],
    ['no state', event('EC2 Instance State-change Notification', { 'instance-id': INSTANCE }), /state: /],
  ])('with %s is poison, and says why', (_, body, reason) => {
    expect(readEc2Event(body, NOW_MS)).toEqual({ is: 'poison', reason: expect.stringMatching(reason) });
  });
});
