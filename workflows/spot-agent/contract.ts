import { defineUpdate } from '@temporalio/workflow';
import type { Ec2Activities } from '../../activities/ec2/contract.ts';
import type { IncomingNotice, MysqlActivities, NoticeEffect } from '../../activities/mysql/contract.ts';
import type { LifecycleTypes } from '../shared/lifecycle.ts';
import { entityId, type ResourceRef } from '../shared/messages.ts';
import type { SpotCommand } from './domain/commands.ts';
import type { SpotObservation } from './domain/observation.ts';
import type { Event, Phase } from './domain/phases.ts';

export { refuseConfiguration, type SpotConfiguration } from './domain/configuration.ts';
export type { InstanceStatus, LaunchConfig, ReplicaStatus } from './domain/observation.ts';
export { judgeRegistration, type Registration } from './domain/registration.ts';
export type { IncomingNotice } from '../../activities/mysql/contract.ts';

/** The one spelling of this lifecycle in ids, folders and plans. */
export const LIFECYCLE = 'spot-agent';
/** What hints call the agent's rows. */
export const KIND = 'SpotAgent';
/** The type of the entity's workflow. */
export const WORKFLOW = 'spotAgent';

/** The type of the workflow that looks for instances whose agent is gone. */
export const FLEET_SWEEP_WORKFLOW = 'sweepSpotFleet';

/** The id of an agent's workflow: `spot-agent/<client>/<agent>`. */
export const spotAgentId = (ref: ResourceRef): string => entityId(LIFECYCLE, ref);

/** The types that the lifecycle is made of. */
export interface SpotTypes extends LifecycleTypes {
  readonly observed: SpotObservation;
  readonly command: SpotCommand;
  readonly phase: Phase;
  readonly event: Event;
  readonly activities: MysqlActivities & Ec2Activities;
}

/** What is done about a notice, and by when: the answer to whoever brought it. */
export interface NoticeAnswer {
  readonly effect: NoticeEffect | 'unknown-agent';
  readonly action: 'promoted' | 'preparing' | 'none';
  readonly message: string;
  /** The replica that is promoted, prepared or awaited for this notice. */
  readonly replicaId: string | null;
  readonly primary: string | null;
  readonly epoch: number | null;
  readonly deadlineMs: number | null;
}

/** Tells the entity of a notice; it is answered once it is written down, and a ready replica is PRIMARY by then. */
export const noticeUpdate = defineUpdate<NoticeAnswer, [IncomingNotice]>('notice');
