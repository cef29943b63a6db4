import type { Json } from '../../workflows/shared/plan.ts';
import type { KubernetesClient } from './client.ts';
import { isStatusWritten, timeConditions, withoutNulls, type TimedCondition } from './conditions.ts';
import type { KubernetesActivities } from './contract.ts';
import type { CustomObject } from './objects.ts';
import { readIdentity } from './owner.ts';

type Input = Parameters<KubernetesActivities['writeKubernetesStatus']>[0];

/** The manager of the status as a whole; conditions of other managers stay. */
const MANAGER = 'keelson-status';

/** Writes the status with its full intent, and nothing at all when it says so already. */
export async function writeStatus(
  client: KubernetesClient,
  { resource, status, conditions }: Input,
): Promise<void> {
  const found = await readIdentity<CustomObject>(client, resource);
  const existing = found.status ?? {};
  const before = (existing['conditions'] ?? []) as unknown as readonly TimedCondition[];
  const nowIso = `${new Date().toISOString().slice(0, 19)}Z`;
  const wanted = {
    ...(withoutNulls(status) as Record<string, Json>),
    conditions: timeConditions(conditions, before, nowIso) as unknown as Json,
  };
  if (isStatusWritten(existing, wanted)) return;
  const { apiVersion, kind, namespace, name, uid } = resource;
  await client.patch(resource, {
    type: 'apply',
    manager: MANAGER,
    subresource: 'status',
    body: { apiVersion, kind, metadata: { namespace, name, uid }, status: wanted },
  });
}
