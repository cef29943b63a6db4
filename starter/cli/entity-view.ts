import type { EntityClient } from './entity-client.ts';
import type { EntityView } from './render/entity-text.ts';

/** Reads all that there is to see of an entity now. */
export async function readEntityView(entity: EntityClient): Promise<EntityView> {
  const [description, status] = await Promise.all([entity.describe(), entity.status()]);
  const progress = await entity.progress(status);
  const awaitsApproval = status.waiting?.on === 'approval';
  return {
    workflowId: entity.target.workflowId,
    run: description.status.name,
    status,
    progress,
    approvalHash: awaitsApproval ? ((await entity.plan())?.hash ?? null) : null,
  };
}
