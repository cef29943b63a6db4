import { createHash } from 'node:crypto';
import type { KubernetesClient } from './client.ts';
import type { KubernetesActivities, ObjectName } from './contract.ts';
import { isConflict, isNotFound, KubernetesError } from './errors.ts';
import type { KubernetesObject } from './objects.ts';

type Input = Parameters<KubernetesActivities['recordKubernetesEvent']>[0];

interface CoreEvent extends KubernetesObject {
  readonly count?: number;
}

const MESSAGE_LIMIT = 1_024;
const COMPONENT = 'keelson';

/** The event's name follows from what it says, so that a repetition finds it and raises its count. */
export async function recordEvent(client: KubernetesClient, input: Input): Promise<void> {
  const { resource, type, reason } = input;
  const message = input.message.slice(0, MESSAGE_LIMIT);
  const name: ObjectName = {
    apiVersion: 'v1',
    kind: 'Event',
    namespace: resource.namespace,
    name: eventName(resource.name, [resource.uid, type, reason, message]),
  };
  const now = new Date().toISOString();
  try {
    await client.create(name, newEvent(input, name, message, now));
  } catch (error) {
    if (isTooLate(error)) return;
    if (!isConflict(error)) throw error;
    await raiseCount(client, name, now);
  }
}

const newEvent = (input: Input, name: ObjectName, message: string, now: string): object => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: {
    name: name.name,
    namespace: name.namespace,
    ...(input.facts === undefined ? {} : { annotations: { 'keelson/facts': JSON.stringify(input.facts) } }),
  },
  involvedObject: {
    apiVersion: input.resource.apiVersion,
    kind: input.resource.kind,
    namespace: input.resource.namespace,
    name: input.resource.name,
    uid: input.resource.uid,
  },
  type: input.type,
  reason: input.reason,
  message,
  count: 1,
  firstTimestamp: `${now.slice(0, 19)}Z`,
  lastTimestamp: `${now.slice(0, 19)}Z`,
  source: { component: COMPONENT },
  reportingComponent: COMPONENT,
  reportingInstance: '',
});

async function raiseCount(client: KubernetesClient, name: ObjectName, now: string): Promise<void> {
  const found = await client.read<CoreEvent>(name);
  if (found === null) return; // It has expired between the two requests.
  const body = { count: (found.count ?? 1) + 1, lastTimestamp: `${now.slice(0, 19)}Z` };
  await client.patch(name, { type: 'merge', manager: COMPONENT, body });
}

/** The namespace is going, and takes its events with it. */
const isTooLate = (error: unknown): boolean =>
  isNotFound(error) ||
  (error instanceof KubernetesError && error.code === 403 && error.message.includes('being terminated'));

const eventName = (resource: string, parts: readonly string[]): string =>
  `${resource.slice(0, 200)}.${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16)}`;
