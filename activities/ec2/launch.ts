import { RunInstancesCommand, type EC2Client, type RunInstancesCommandInput } from '@aws-sdk/client-ec2';
import { failure } from '../../workflows/shared/failures.ts';
import { attemptSignal } from '../attempt.ts';
import { mutate } from '../mutations.ts';
import type { Ec2Clients } from './client.ts';
import type { Ec2Launch } from './contract.ts';
import { findInstances } from './observe.ts';
import { TAGS } from './tags.ts';

const LIVE = ['pending', 'running', 'stopping', 'stopped', 'shutting-down'];

/** Launches one instance for a replica, once, however often it is asked. */
export async function launchInstance(
  clients: Ec2Clients,
  launch: Ec2Launch,
): Promise<{ readonly instanceId: string; readonly repeated: boolean }> {
  const client = clients.inRegion(launch.region);
  const before = await findLaunched(client, launch.replica);
  if (before !== null) return { instanceId: before, repeated: true };
  const mutation = { system: 'ec2', verb: 'run-instance', target: launch.replica };
  const { Instances } = await mutate(clients.hook, mutation, () =>
    client.send(new RunInstancesCommand(inputOf(launch)), { abortSignal: attemptSignal() }),
  );
  const instanceId = Instances?.[0]?.InstanceId;
  if (instanceId === undefined) throw failure('Ec2Unavailable', 'EC2 answered a launch without an instance');
  return { instanceId, repeated: false };
}

async function findLaunched(client: EC2Client, replica: string): Promise<string | null> {
  const found = await findInstances(
    client,
    { Name: `tag:${TAGS.replica}`, Values: [replica] },
    { Name: 'instance-state-name', Values: LIVE },
  );
  return found[0]?.InstanceId ?? null;
}

function inputOf(launch: Ec2Launch): RunInstancesCommandInput {
  const tags = Object.entries({
    [TAGS.agent]: launch.agentId,
    [TAGS.client]: launch.clientId,
    [TAGS.replica]: launch.replica,
    [TAGS.epoch]: String(launch.epoch),
    [TAGS.operation]: launch.operation.slice(0, 256),
    Name: `${launch.agentId} ${launch.replica}`,
  }).map(([Key, Value]) => ({ Key, Value }));
  return {
    ImageId: launch.imageId,
    InstanceType: launch.instanceType as NonNullable<RunInstancesCommandInput['InstanceType']>,
    MinCount: 1,
    MaxCount: 1,
    // A replica is one attempt to launch: its id is the token.
    ClientToken: `keelson-${launch.replica}`.slice(0, 64),
    // A subnet lies in one zone: naming the zone beside it could only contradict it.
    ...(launch.subnetId === null
      ? { Placement: { AvailabilityZone: launch.az } }
      : { SubnetId: launch.subnetId }),
    // Without a maximum price: that would only mean more interruptions.
    ...(launch.market === 'spot'
      ? {
          InstanceMarketOptions: {
            MarketType: 'spot',
            SpotOptions: { SpotInstanceType: 'one-time', InstanceInterruptionBehavior: 'terminate' },
          },
        }
      : {}),
    MetadataOptions: { HttpTokens: 'required', HttpEndpoint: 'enabled' },
    UserData: Buffer.from(JSON.stringify({ agent: launch.agentId, replica: launch.replica })).toString(
      'base64',
    ),
    TagSpecifications: [{ ResourceType: 'instance', Tags: tags }],
  };
}
