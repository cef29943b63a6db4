import { runEntity, type EntityInput } from '../shared/entity.ts';
import type { Lifecycle } from '../shared/lifecycle.ts';
import type { EntityHandlers, EntityPort } from '../shared/port.ts';
import { Alarm } from './alarm.ts';
import type { SpotTypes } from './contract.ts';
import type { PoolPrice } from './domain/observation.ts';
import { nextWakeMs } from './domain/wake.ts';
import { spotLifecycle } from './lifecycle.ts';

/** A running agent: the loop of every entity, with an alarm clock beside it. */
export interface AgentRun {
  readonly end: Promise<void>;
  /** Wakes the loop, as a hint from outside does. */
  readonly wake: EntityHandlers['hint'];
  /** The newest prices that were seen. */
  prices(): readonly PoolPrice[];
}

/** Runs the loop, and wakes it when something runs out. */
export function runAgent(port: EntityPort<SpotTypes['activities']>, input: EntityInput): AgentRun {
  let wake: EntityHandlers['hint'] = () => {};
  let prices: readonly PoolPrice[] = [];
  const alarm = new Alarm(port, () => wake({ kind: '', uid: '', generation: 0 }));
  const lifecycle: Lifecycle<SpotTypes> = {
    ...spotLifecycle,
    async observe(through, ref) {
      const observed = await spotLifecycle.observe(through, ref);
      alarm.set(observed === null ? null : nextWakeMs(observed));
      prices = observed?.cloud?.prices ?? prices;
      return observed;
    },
  };
  const served: EntityPort<SpotTypes['activities']> = {
    ...port,
    serve(handlers) {
      wake = (hint) => handlers.hint(hint);
      port.serve(handlers);
    },
  };
  const end = runEntity(served, lifecycle, input);
  void alarm.run();
  return { end, wake: (hint) => wake(hint), prices: () => prices };
}
