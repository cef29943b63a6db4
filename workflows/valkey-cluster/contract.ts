import type { KubernetesActivities } from '../../activities/kubernetes/contract.ts';
import type { ValkeyActivities } from '../../activities/valkey/contract.ts';
import type { LifecycleTypes } from '../shared/lifecycle.ts';
import { entityId, type ResourceRef } from '../shared/messages.ts';
import type { Json } from '../shared/plan.ts';
import type { ValkeyCommand } from './domain/commands.ts';
import { KIND } from './domain/names.ts';
import type { ValkeyObservation } from './domain/observation.ts';
import type { Event, Phase } from './domain/phases.ts';

export { KIND };
/** The one spelling of this lifecycle in ids, folders and plans. */
export const LIFECYCLE = 'valkey-cluster';

/** The id of a cluster's workflow: `valkey-cluster/<namespace>/<name>`. */
export const valkeyClusterId = (ref: ResourceRef): string => entityId(LIFECYCLE, ref);

/** The types that the lifecycle is made of. */
export interface ValkeyTypes extends LifecycleTypes {
  readonly observed: ValkeyObservation;
  readonly command: ValkeyCommand;
  readonly phase: Phase;
  readonly event: Event;
  readonly activities: KubernetesActivities & ValkeyActivities;
}

/** What a dry run is asked: the plan for the spec as it is, or for another one, as a manifest has it. */
export interface ValkeyPlanInput {
  readonly ref: ResourceRef;
  readonly spec?: Json;
}
