import { transition } from '../../shared/transitions.ts';
import { SHARD_TABLE, WORKING, type ShardEvent, type ShardState } from './shard-states.ts';

/** Where a shard that nobody works on comes to when it is left out; what a run that was lost has begun is given up first. */
export function leaveOut(state: ShardState): ShardState {
  const events: readonly ShardEvent[] = WORKING.includes(state)
    ? ['ShardInterrupted', 'ShardSkipped']
    : ['ShardSkipped'];
  return events.reduce((from, event) => {
    const outcome = transition(SHARD_TABLE, from, event);
    if (!outcome.moved) throw new Error(`shard: ${outcome.refusal}`);
    return outcome.to;
  }, state);
}
