import { createHash } from 'node:crypto';
import type { KubernetesApi } from './kubernetes-api.ts';
import { APPLY_PATCH } from './kubernetes-api.ts';
import { isRefusal } from './kubernetes-refusal.ts';
import { fieldOf, textOf } from './object-field.ts';
import { apiVersionOf, resourcePath } from './watch-definition.ts';
import type { ResourceType } from './watch-definition.ts';

/** The object that is reported on; nothing is written when it is gone or another one. */
export interface ReportedObject {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface ReportedCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const EVENTS = { group: '', version: 'v1', plural: 'events' } as const;

/**
 * Puts one condition on an object, or takes it away (null), by a field manager of its own, so that all other conditions stay
 * as their writers left them. Answers whether anything changed.
 */
export async function applyCondition(
  api: KubernetesApi,
  object: ReportedObject,
  type: string,
  condition: Omit<ReportedCondition, 'type'> | null,
): Promise<boolean> {
  const path = resourcePath(object.type, { namespace: object.namespace, name: object.name });
  const present = await readObject(api, path);
  if (present === null || textOf(fieldOf(present, 'metadata'), 'uid') !== object.uid) return false;
  const before = conditionOf(present, type);
  if (condition === null && before === null) return false;
  const generation = fieldOf(fieldOf(present, 'metadata'), 'generation');
  const sameStatus = condition !== null && textOf(before, 'status') === condition.status;
  const since = (sameStatus ? textOf(before, 'lastTransitionTime') : null) ?? new Date().toISOString();
  const lastTransitionTime = since.replace(/\.\d+Z$/, 'Z');
  await api.request(`${path}/status`, {
    method: 'PATCH',
    contentType: APPLY_PATCH,
    query: { fieldManager: `keelson-starter-${type.toLowerCase()}`, force: 'true' },
    body: {
      apiVersion: apiVersionOf(object.type),
      kind: object.type.kind,
      metadata: { name: object.name, namespace: object.namespace, uid: object.uid },
      status: {
        conditions:
          condition === null
            ? []
            : [{ type, ...condition, lastTransitionTime, observedGeneration: generation }],
      },
    },
  });
  return condition === null || textOf(before, 'message') !== condition.message || !sameStatus;
}

/** Records an Event on an object; the same one again is brought up to date. */
export async function recordEvent(
  api: KubernetesApi,
  object: ReportedObject,
  event: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string },
): Promise<void> {
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const name = `${object.name.slice(0, 220)}.${digest(object.uid, event.reason, event.message)}`;
  const body = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: object.namespace },
    involvedObject: {
      apiVersion: apiVersionOf(object.type),
      kind: object.type.kind,
      namespace: object.namespace,
      name: object.name,
      uid: object.uid,
    },
    ...event,
    message: event.message.slice(0, 1024),
    source: { component: 'keelson-starter' },
    reportingComponent: 'keelson-starter',
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  };
  try {
    await api.request(resourcePath(EVENTS, { namespace: object.namespace }), { method: 'POST', body });
  } catch (error) {
    if (!isRefusal(error, 409)) throw error;
    const path = resourcePath(EVENTS, { namespace: object.namespace, name });
    const patch = { lastTimestamp: now };
    await api.request(path, { method: 'PATCH', contentType: 'application/merge-patch+json', body: patch });
  }
}

async function readObject(api: KubernetesApi, path: string): Promise<unknown> {
  try {
    return await api.request(path);
  } catch (error) {
    if (isRefusal(error, 404)) return null;
    throw error;
  }
}

function conditionOf(object: unknown, type: string): unknown {
  const conditions = fieldOf(fieldOf(object, 'status'), 'conditions');
  if (!Array.isArray(conditions)) return null;
  return conditions.find((one) => fieldOf(one, 'type') === type) ?? null;
}

const digest = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);
