import { TerminateInstancesCommand, type Instance } from '@aws-sdk/client-ec2';
import { failure } from '../../workflows/shared/failures.ts';
import { attemptSignal } from '../attempt.ts';
import { mutate } from '../mutations.ts';
import { pollUntil } from '../polling.ts';
import type { Ec2Clients } from './client.ts';
import type { Ec2Activities, Ec2Target } from './contract.ts';
import { asEc2Failure, classify } from './errors.ts';
import { launchInstance } from './launch.ts';
import { findInstances, observeInstances, observePrices, observeTagged, tagOf } from './observe.ts';
import { TAGS } from './tags.ts';

const POLL_MS = 1_000;
/** For so long EC2 may not know what it has launched. */
const UNSEEN_MS = 5 * 60_000;

/** The activities of EC2, over clients for every region. */
export function createEc2Activities(clients: Ec2Clients): Ec2Activities {
  return {
    observeEc2Instances: (input) => translated(() => observe(clients, input)),
    observeTaggedEc2Instances: ({ region }) => translated(() => observeTagged(clients.inRegion(region))),
    launchEc2Instance: (input) => translated(() => launchInstance(clients, input)),
    terminateEc2Instance: (input) => translated(() => terminate(clients, input)),
    awaitEc2Terminated: (input) =>
      translated(() =>
        pollUntil(POLL_MS, async () => {
          const instance = await find(clients, input);
          // EC2 forgets what has ended, and may not have heard yet of what has just begun.
          const state = instance?.State?.Name ?? (isLongKnown(input) ? 'terminated' : 'not known to EC2 yet');
          return state === 'terminated'
            ? { done: undefined }
            : { waiting: `${input.instanceId} is ${state}` };
        }),
      ),
  };
}

/** Where EC2 has trouble of its own, nothing is known; what it refuses is told. */
async function observe(
  clients: Ec2Clients,
  { region, agentId, instanceIds, pools }: Parameters<Ec2Activities['observeEc2Instances']>[0],
): ReturnType<Ec2Activities['observeEc2Instances']> {
  const client = clients.inRegion(region);
  try {
    const [instances, prices] = await Promise.all([
      observeInstances(client, agentId, instanceIds),
      observePrices(client, pools),
    ]);
    return { instances, prices };
  } catch (error) {
    attemptSignal().throwIfAborted();
    if (classify(error) !== 'Ec2Unavailable') throw error;
    return null;
  }
}

async function terminate(clients: Ec2Clients, target: Ec2Target): Promise<{ readonly state: string }> {
  const { agentId, instanceId, region } = target;
  const instance = await find(clients, target);
  if (instance === null && !isLongKnown(target))
    throw failure('Ec2NotVisible', `${instanceId} was launched a moment ago, and EC2 does not know it yet`);
  const state = instance?.State?.Name ?? 'terminated';
  if (instance === null || state === 'terminated' || state === 'shutting-down') return { state };
  const owner = tagOf(instance, TAGS.agent);
  if (owner !== agentId)
    throw failure(
      'Ec2NotOurs',
      `${instanceId} is tagged ${TAGS.agent}=${owner ?? '(nothing)'}, and not ${agentId}: it was left alone`,
    );
  await mutate(clients.hook, { system: 'ec2', verb: 'terminate-instance', target: instanceId }, () =>
    clients.inRegion(region).send(new TerminateInstancesCommand({ InstanceIds: [instanceId] }), {
      abortSignal: attemptSignal(),
    }),
  );
  return { state: 'shutting-down' };
}

const isLongKnown = ({ knownSinceMs }: Ec2Target): boolean => Date.now() - knownSinceMs > UNSEEN_MS;

async function find(
  clients: Ec2Clients,
  { region, instanceId }: { readonly region: string; readonly instanceId: string },
): Promise<Instance | null> {
  const [found] = await findInstances(clients.inRegion(region), {
    Name: 'instance-id',
    Values: [instanceId],
  });
  return found ?? null;
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    attemptSignal().throwIfAborted();
    throw asEc2Failure(error);
  }
}
