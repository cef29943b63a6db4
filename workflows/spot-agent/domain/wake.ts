import { primaryOf, type SpotObservation } from './observation.ts';
import { describeLoss, openReplicas } from './readiness.ts';
import { planRetirement } from './retirement.ts';
import { stateOf } from './states.ts';
import { TIMES } from './times.ts';

/** When the agent must be looked at again although nobody says anything, or null when the usual look is soon enough. */
export function nextWakeMs(observed: SpotObservation): number | null {
  const { agent, nowMs, instances } = observed;
  const primary = primaryOf(observed);
  const times = [
    ...(agent.notice === null ? [] : [agent.notice.receivedAtMs + TIMES.rebalanceMs]),
    ...(primary !== null && describeLoss(observed, primary) !== null ? [nowMs + 5_000] : []),
    // Nobody waits by a deadline then, and where nothing can be launched it may stay so for long.
    ...(primary === null ? [nowMs + 60_000] : []),
    ...(agent.notice !== null && openReplicas(observed).length > 0 ? [nowMs + 10_000] : []),
    ...(agent.lastHeartbeatMs === null || primary === null
      ? []
      : [agent.lastHeartbeatMs + TIMES.heartbeatLostMs + 1_000]),
    ...instances.flatMap((one) => {
      if (stateOf(one.status) !== 'ZOMBIE') return [];
      const judged = planRetirement(observed, one);
      return judged.do === 'keep' && judged.untilMs !== null ? [judged.untilMs] : [];
    }),
  ].filter((atMs) => atMs > nowMs);
  return times.length === 0 ? null : Math.min(...times);
}
