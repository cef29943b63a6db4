import type { ValkeyStep } from './commands.ts';
import type { PlanContext } from './plan.ts';
import { countSlots } from './slots.ts';

const ROTATES: ReadonlySet<ValkeyStep['kind']> = new Set(['AddPassword', 'DropPassword', 'ApplyAcl']);

/** The operation that a plan's steps make up, by what the wish changes. */
export function nameOperation(context: PlanContext, steps: readonly ValkeyStep[]): string {
  if (context.wish.deleting === true) return 'delete';
  if (!context.formed) return 'create';
  if (steps.some((step) => ROTATES.has(step.kind))) return 'rotate';
  if (steps.some((step) => step.kind === 'HandOver' && step.takeOver !== undefined)) return 'heal';
  // The shape stays while slots are served by nobody, so whatever is planned brings back what was there.
  if (context.lacksSlots) return 'heal';
  const masters = changeOfMasters(context);
  const replicas = replicasChange(context);
  if (masters !== null) return replicas ? 'scale' : masters;
  if (replicas) return 'change-replicas';
  if (context.slots.moves.length > 0) return 'rebalance';
  // Pods that must be waited for were missing or did not start: that is more than a restart.
  const kinds = new Set(steps.map((step) => step.kind));
  return kinds.has('RestartPod') && !kinds.has('AwaitPods') ? 'restart' : 'heal';
}

function changeOfMasters(context: PlanContext): 'scale-up' | 'scale-down' | null {
  const { views, wanted, leaving, wish } = context;
  const serving = views.filter((view) => view.master !== null && countSlots(view.master.slots) > 0);
  if (
    serving.length < wish.masters &&
    wanted.some((shard) => !serving.some((view) => view.shard === shard))
  ) {
    return 'scale-up';
  }
  return leaving.length > 0 ? 'scale-down' : null;
}

/** A shard that lacks what others have has lost it; a replica that none has is a new wish. */
function replicasChange({ staying, pods, topology }: PlanContext): boolean {
  const counts = staying.map((view) => view.pods);
  if (counts.length === 0) return false;
  if (counts.some((one) => one > pods)) return true;
  return topology.shards === undefined ? Math.max(...counts) < pods : counts.some((one) => one < pods);
}
