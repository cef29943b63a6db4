import { randomBytes } from 'node:crypto';
import type { EC2Client } from '@aws-sdk/client-ec2';
import { createEc2Activities } from '../../../activities/ec2/activities.ts';
import { createEc2Clients } from '../../../activities/ec2/client.ts';
import type { Ec2Activities, Ec2Launch } from '../../../activities/ec2/contract.ts';
import { noMutationHook, type MutationHook } from '../../../activities/mutations.ts';
import { useStack } from '../../../deploy/local/testing.ts';
import type { BehaviourChange } from '../../../deploy/local/ec2/behaviour.ts';

export const REGION = 'us-east-1';
/** The emulator takes any image for one that exists. */
const IMAGE = 'ami-12c6146b';

/** EC2 as it is emulated, and what a test sets at it. */
export interface Ec2Stage {
  readonly url: string;
  readonly client: EC2Client;
  readonly activities: Ec2Activities;
  readonly imageId: string;
  behave(change: BehaviourChange): Promise<void>;
  announce(instanceId: string, kind: 'rebalance' | 'termination', inMs?: number): Promise<void>;
  /** A launch for a replica of its own, unless told otherwise. */
  launchOf(agentId: string, change?: Partial<Ec2Launch>): Ec2Launch;
  close(): void;
}

/** Who asks: the emulator believes everybody. */
export const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' } as const;

/** Opens EC2 as it is emulated. */
export async function openEc2Stage(hook: MutationHook = noMutationHook): Promise<Ec2Stage> {
  Object.assign(process.env, CREDENTIALS);
  const stack = await useStack();
  await stack.startParts('ec2');
  const url = stack.addresses('ec2')['api'] ?? '';
  const clients = createEc2Clients(hook, { endpoint: url });
  const client = clients.inRegion(REGION);
  const post = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  return {
    url,
    client,
    activities: createEc2Activities(clients),
    imageId: IMAGE,
    behave: (change) => post('/control/behaviour', change),
    announce: (instanceId, kind, inMs = 120_000) => post('/control/announce', { instanceId, kind, inMs }),
    launchOf: (agentId, change = {}) => ({
      region: REGION,
      agentId,
      clientId: 'acme',
      replica: `rep-${randomBytes(8).toString('hex')}`,
      epoch: 0,
      operation: `spot-agent/acme/${agentId}/launch-replica/0`,
      imageId: IMAGE,
      instanceType: 'm5.large',
      az: 'us-east-1b',
      subnetId: null,
      market: 'spot',
      ...change,
    }),
    close: () => clients.close(),
  };
}
