import type { Client } from '@temporalio/client';

/** Null when an entity has nothing under way and waits for the next change, else what it is at. */
export async function entityIsAt(client: Client, workflowId: string): Promise<string | null> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  const activities = (raw.pendingActivities ?? []).map((one) => one.activityType?.name ?? 'an activity');
  const children = (raw.pendingChildren ?? []).map((one) => one.workflowId ?? 'a child');
  const tasks = raw.pendingWorkflowTask == null ? [] : ['a workflow task'];
  const underWay = [...activities, ...children, ...tasks];
  return underWay.length === 0 ? null : `the entity is at ${underWay.join(', ')}`;
}
