import {
  DescribeInstancesCommand,
  DescribeSpotPriceHistoryCommand,
  type EC2Client,
  type Filter,
  type Instance,
} from '@aws-sdk/client-ec2';
import type { CloudInstance, Pool, PoolPrice } from '../../workflows/spot-agent/domain/observation.ts';
import type { TaggedInstance } from '../../workflows/spot-agent/domain/orphans.ts';
import { attemptSignal } from '../attempt.ts';
import { TAGS } from './tags.ts';

/** Every instance that a filter finds; filters answer nothing, and not an error, for what EC2 does not know. */
export async function findInstances(client: EC2Client, ...filters: Filter[]): Promise<readonly Instance[]> {
  const found: Instance[] = [];
  let next: string | undefined;
  do {
    const page = await client.send(
      new DescribeInstancesCommand({ Filters: filters, ...(next === undefined ? {} : { NextToken: next }) }),
      { abortSignal: attemptSignal() },
    );
    found.push(...(page.Reservations ?? []).flatMap((one) => one.Instances ?? []));
    next = page.NextToken;
  } while (next !== undefined && next !== '');
  return found;
}

/** The value of a tag, or null. */
export const tagOf = (instance: Instance, key: string): string | null =>
  instance.Tags?.find((tag) => tag.Key === key)?.Value ?? null;

/** The instances that are tagged as the agent's, and those that its rows name, however they are tagged. */
export async function observeInstances(
  client: EC2Client,
  agentId: string,
  instanceIds: readonly string[],
): Promise<readonly CloudInstance[]> {
  const [tagged, named] = await Promise.all([
    findInstances(client, { Name: `tag:${TAGS.agent}`, Values: [agentId] }),
    findNamed(client, instanceIds),
  ]);
  const found = new Map([...tagged, ...named].map((one) => [one.InstanceId ?? '', one]));
  return [...found]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, one]) => ({
      id,
      instanceType: one.InstanceType ?? '',
      az: one.Placement?.AvailabilityZone ?? '',
      state: one.State?.Name ?? 'pending',
      ours: tagOf(one, TAGS.agent) === agentId,
      replica: tagOf(one, TAGS.replica),
      launchedAtMs: one.LaunchTime?.getTime() ?? 0,
    }));
}

/** A filter takes so many values and no more, and an agent may keep more zombies than that. */
const FILTER_VALUES = 200;

async function findNamed(client: EC2Client, ids: readonly string[]): Promise<readonly Instance[]> {
  const found: Instance[] = [];
  for (let at = 0; at < ids.length; at += FILTER_VALUES)
    found.push(
      ...(await findInstances(client, { Name: 'instance-id', Values: ids.slice(at, at + FILTER_VALUES) })),
    );
  return found;
}

/** Every instance that lives and is tagged as some agent's. */
export async function observeTagged(client: EC2Client): Promise<readonly TaggedInstance[]> {
  const found = await findInstances(
    client,
    { Name: 'tag-key', Values: [TAGS.agent] },
    { Name: 'instance-state-name', Values: ['pending', 'running', 'stopping', 'stopped'] },
  );
  return found
    .map((one) => ({
      id: one.InstanceId ?? '',
      agentId: tagOf(one, TAGS.agent) ?? '',
      clientId: tagOf(one, TAGS.client) ?? '',
      replica: tagOf(one, TAGS.replica),
      launchedAtMs: one.LaunchTime?.getTime() ?? 0,
    }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The newest spot price of each pool. */
export async function observePrices(
  client: EC2Client,
  pools: readonly Pool[],
): Promise<readonly PoolPrice[]> {
  if (pools.length === 0) return [];
  const { SpotPriceHistory = [] } = await client.send(
    new DescribeSpotPriceHistoryCommand({
      StartTime: new Date(),
      InstanceTypes: [...new Set(pools.map((one) => one.instanceType))] as never[],
      ProductDescriptions: ['Linux/UNIX'],
    }),
    { abortSignal: attemptSignal() },
  );
  const newest = SpotPriceHistory.toSorted(
    (a, b) => (b.Timestamp?.getTime() ?? 0) - (a.Timestamp?.getTime() ?? 0),
  );
  return pools.flatMap(({ instanceType, az }) => {
    const found = newest.find((one) => one.InstanceType === instanceType && one.AvailabilityZone === az);
    const price = Number(found?.SpotPrice);
    return Number.isFinite(price) ? [{ instanceType, az, price }] : [];
  });
}
