import type { ResourceRef } from '../../../../workflows/shared/messages.ts';

/** A lamp in its socket; it gives light once it is warm. */
export interface Lamp {
  readonly socket: number;
  readonly warm: boolean;
}

/** A row of lamps as it was observed, wish included. */
export interface Row {
  readonly ref: ResourceRef;
  readonly uid: string;
  readonly generation: number;
  readonly deleting: boolean;
  readonly wanted: number;
  readonly sockets: number;
  readonly approvals: boolean;
  /** Somebody reads by this light, and no lamp may go. */
  readonly reader: boolean;
  readonly lamps: readonly Lamp[];
  readonly phase: string | null;
  readonly carriedOut: number | null;
}

export type LampCommand =
  | { readonly kind: 'ScrewIn'; readonly socket: number }
  | { readonly kind: 'AwaitWarm'; readonly socket: number }
  | { readonly kind: 'Discard'; readonly socket: number }
  | { readonly kind: 'Release' };

export const PHASES = ['Dark', 'Lighting', 'Warming', 'Lit', 'Dimming', 'Dismantling', 'Failed'] as const;
export type Phase = (typeof PHASES)[number];

export const EVENTS = [
  'LightingStarted',
  'LampsPlaced',
  'LampsWarm',
  'DimmingStarted',
  'DismantlingStarted',
  'RowFailed',
  'RowRecovered',
  'RowSuperseded',
  'RowCancelled',
] as const;
export type Event = (typeof EVENTS)[number];
