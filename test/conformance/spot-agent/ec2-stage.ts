import { randomBytes } from 'node:crypto';
import type { EC2Client } from '@aws-sdk/client-ec2';
import { createEc2Activities } from '../../../activities/ec2/activities.ts';
import { createEc2Clients } from '../../../activities/ec2/client.ts';
import type { Ec2Activities, Ec2Launch } from '../../../activities/ec2/contract.ts';
import { noMutationHook, type MutationHook } from '../../../activities/mutations.ts';
import { useStack, type StackHandle } from '../../../deploy/local/testing.ts';
import type { BehaviourChange } from '../../../deploy/local/ec2/behaviour.ts';
import type { AgentState, Image } from '../../../deploy/local/ec2/fleet.ts';

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
  /** A queue that hears of all that happens to instances; gives its address. */
  openQueue(name: string): Promise<string>;
  /** From now on instances of this image run the agent, and `agents` has what each of them says of itself. */
  install(imageId: string, image: Image): Promise<void>;
  agents(): Promise<readonly AgentState[]>;
  /** A launch for a replica of its own, unless told otherwise. */
  launchOf(agentId: string, change?: Partial<Ec2Launch>): Ec2Launch;
  close(): void;
}

/** Who asks: the emulator believes everybody. */
export const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' } as const;

/** Opens EC2 as it is emulated, on the stack of the tests unless another is named. */
export async function openEc2Stage(hook: MutationHook = noMutationHook, on?: StackHandle): Promise<Ec2Stage> {
  Object.assign(process.env, CREDENTIALS);
  const stack = on ?? (await useStack());
  await stack.startParts('ec2');
  const url = stack.addresses('ec2')['api'] ?? '';
  const clients = createEc2Clients(hook, { endpoint: url });
  const client = clients.inRegion(REGION);
  const post = async (path: string, body: object): Promise<string> => {
    const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text;
  };
  return {
    url,
    client,
    activities: createEc2Activities(clients),
    imageId: IMAGE,
    behave: async (change) => void (await post('/control/behaviour', change)),
    announce: async (instanceId, kind, inMs = 120_000) =>
      void (await post('/control/announce', { instanceId, kind, inMs })),
    install: async (imageId, image) => void (await post('/control/image', { imageId, ...image })),
    agents: async () => JSON.parse(await post('/control/agents', {})) as readonly AgentState[],
    openQueue: async (name) => (JSON.parse(await post('/control/queue', { name })) as { url: string }).url,
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
