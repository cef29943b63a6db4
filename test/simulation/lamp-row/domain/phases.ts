import type { TransitionTable } from '../../../../workflows/shared/transitions.ts';
import { EVENTS, PHASES, type Event, type Phase } from './row.ts';

const why = 'an operation that was left is planned anew from what is there';

/** What a row goes through. */
export const PHASE_TABLE: TransitionTable<Phase, Event> = {
  phases: PHASES,
  events: EVENTS,
  specification: [
    { from: 'Dark', event: 'LightingStarted', to: 'Lighting' },
    { from: 'Lit', event: 'LightingStarted', to: 'Lighting' },
    { from: 'Lighting', event: 'LampsPlaced', to: 'Warming' },
    { from: 'Warming', event: 'LampsWarm', to: 'Lit' },
    { from: 'Dark', event: 'LampsWarm', to: 'Lit' },
    { from: 'Dark', event: 'DimmingStarted', to: 'Dimming' },
    { from: 'Lit', event: 'DimmingStarted', to: 'Dimming' },
    { from: 'Dimming', event: 'LampsWarm', to: 'Lit' },
    { from: '*', event: 'DismantlingStarted', to: 'Dismantling' },
    { from: '*', event: 'RowFailed', to: 'Failed' },
    { from: 'Failed', event: 'RowRecovered', to: 'Dark' },
  ],
  ours: (['Lighting', 'Warming', 'Dimming', 'Dismantling'] as const).flatMap((from) =>
    (['RowRecovered', 'RowSuperseded', 'RowCancelled'] as const).map((event) => ({
      from,
      event,
      to: 'Dark' as const,
      why,
    })),
  ),
};
