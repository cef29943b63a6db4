import type { Condition, ResourceRef } from '../../../workflows/shared/messages.ts';
import type { LifecycleTypes, News } from '../../../workflows/shared/lifecycle.ts';
import type { Event, LampCommand, Phase, Row } from './domain/row.ts';

export const LIFECYCLE = 'lamp-row';
export const KIND = 'LampRow';

/** Which row, and which of all that ever had its name: every write is fenced by the uid. */
export interface RowTarget {
  readonly ref: ResourceRef;
  readonly uid: string;
}

export interface LampTarget extends RowTarget {
  readonly socket: number;
}

/** What is written on the resource. */
export interface RowStatus {
  readonly phase: string;
  readonly message: string;
  readonly reason: string;
  readonly carriedOut: number | null;
  readonly conditions: readonly Condition[];
}

/** All that the worker must offer. */
export interface LampRowActivities {
  observeLampRow(ref: ResourceRef): Promise<Row | null>;
  screwInLamp(lamp: LampTarget): Promise<{ readonly attempts: number }>;
  awaitLampWarm(lamp: LampTarget): Promise<void>;
  unscrewLamp(lamp: LampTarget): Promise<void>;
  discardLamp(lamp: LampTarget): Promise<void>;
  releaseLampRow(row: RowTarget): Promise<void>;
  reportLampRow(row: RowTarget & { readonly status: RowStatus }): Promise<void>;
  announceLampRow(row: RowTarget & { readonly news: News }): Promise<void>;
}

/** The types that the lifecycle is made of. */
export interface LampRowTypes extends LifecycleTypes {
  readonly observed: Row;
  readonly command: LampCommand;
  readonly phase: Phase;
  readonly event: Event;
  readonly activities: LampRowActivities;
}
