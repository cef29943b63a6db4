import { transition, type Transition, type TransitionTable } from '../../shared/transitions.ts';
import type { InstanceStatus } from './observation.ts';

export const STATES = ['PRIMARY', 'REPLICA', 'ZOMBIE', 'TERMINATED'] as const;
export const STATE_EVENTS = [
  'HeartbeatReceived',
  'FailedOver',
  'Promoted',
  'PromotionFailed',
  'CleanUpBegan',
  'CleanedUp',
  'RetentionExpired',
  'TerminationConfirmed',
] as const;

export type InstanceState = (typeof STATES)[number];
export type InstanceEvent = (typeof STATE_EVENTS)[number];

const SPECIFICATION: readonly Transition<InstanceState, InstanceEvent>[] = [
  { from: 'PRIMARY', event: 'HeartbeatReceived', to: 'PRIMARY' },
  { from: 'PRIMARY', event: 'FailedOver', to: 'ZOMBIE' },
  { from: 'REPLICA', event: 'Promoted', to: 'PRIMARY', guard: 'VersionMatches' },
  { from: 'REPLICA', event: 'PromotionFailed', to: 'ZOMBIE' },
  { from: 'REPLICA', event: 'CleanedUp', to: 'TERMINATED', guard: 'GoneFromCloud' },
  { from: 'ZOMBIE', event: 'RetentionExpired', to: 'TERMINATED', guard: 'GoneFromCloud' },
];

/** The states of an instance. No row leads from PRIMARY to TERMINATED: an instance is demoted first, and then ended. */
export const INSTANCE_TABLE: TransitionTable<InstanceState, InstanceEvent> = {
  phases: STATES,
  events: STATE_EVENTS,
  specification: SPECIFICATION,
  ours: [
    {
      from: 'REPLICA',
      event: 'CleanUpBegan',
      to: 'ZOMBIE',
      why: 'A replica that is about to be ended cannot be promoted any more.',
    },
    {
      from: 'ZOMBIE',
      event: 'CleanedUp',
      to: 'TERMINATED',
      guard: 'GoneFromCloud',
      why: 'The clean-up of a replica goes by way of ZOMBIE, until EC2 has confirmed its end.',
    },
    {
      from: 'ZOMBIE',
      event: 'TerminationConfirmed',
      to: 'TERMINATED',
      guard: 'GoneFromCloud',
      why: 'With auto_terminate on, and after a reclaim by AWS, a zombie ends before its retention does.',
    },
    {
      from: 'REPLICA',
      event: 'TerminationConfirmed',
      to: 'TERMINATED',
      guard: 'GoneFromCloud',
      why: 'A replica that AWS has taken back is found gone.',
    },
  ],
};

/** The specification's state that a row is in. */
export function stateOf(status: InstanceStatus): InstanceState {
  switch (status) {
    case 'running_primary':
      return 'PRIMARY';
    case 'launching':
    case 'running_replica':
    case 'promoting':
      return 'REPLICA';
    case 'zombie':
    case 'terminating':
      return 'ZOMBIE';
    case 'terminated':
      return 'TERMINATED';
  }
}

/** The event that ends an instance whose end EC2 has confirmed, or the refusal. */
export const closeInstance = (
  status: InstanceStatus,
  event: 'CleanedUp' | 'RetentionExpired' | 'TerminationConfirmed',
): ReturnType<typeof transition<InstanceState, InstanceEvent>> =>
  transition(INSTANCE_TABLE, stateOf(status), event);
