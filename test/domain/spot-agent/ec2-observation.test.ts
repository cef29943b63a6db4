import type { DescribeInstancesCommand, EC2Client } from '@aws-sdk/client-ec2';
import { expect, it } from 'vitest';
import { observeInstances } from '../../../activities/ec2/observe.ts';

it('asks for no more instances at once than a filter of EC2 takes, and finds every one', async () => {
  const asked: number[] = [];
  const send = ({ input }: DescribeInstancesCommand) => {
    const filter = input.Filters?.[0];
    if (filter?.Name !== 'instance-id') return Promise.resolve({ Reservations: [] });
    asked.push(filter.Values?.length ?? 0);
    const Instances = (filter.Values ?? []).map((InstanceId) => ({ InstanceId }));
    return Promise.resolve({ Reservations: [{ Instances }] });
  };
  const ids = Array.from({ length: 450 }, (_, at) => `i-${String(at).padStart(8, '0')}`);
  // The one method of a client that is called.
  const found = await observeInstances({ send } as unknown as EC2Client, 'agent-1', ids);
  expect(asked).toEqual([200, 200, 50]);
  expect(found.map(({ id }) => id)).toEqual(ids);
  expect(await observeInstances({ send } as unknown as EC2Client, 'agent-1', [])).toEqual([]);
});
