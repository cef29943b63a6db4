import { KIND, API_VERSION } from '../../../workflows/valkey-cluster/domain/names.ts';
import type { ValkeyTypes } from '../../../workflows/valkey-cluster/contract.ts';
import { Engine } from '../../simulation/engine/engine.ts';
import type { ActivityImplementation } from '../../simulation/engine/attempts.ts';
import { createSimulatedActivities } from '../../simulation/valkey-cluster/activities.ts';
import { HOUR_MS } from '../../simulation/valkey-cluster/stage.ts';
import { REF, ValkeyWorld } from '../../simulation/valkey-cluster/world.ts';
import { worldSuite, type WorldStage } from './world-suite.ts';

worldSuite(openSimulatedWorld);

/** The simulator's world; each call is a workflow of one activity, so that its clock runs. */
async function openSimulatedWorld(): Promise<WorldStage> {
  const world = new ValkeyWorld();
  const engine = new Engine({
    seed: 'conformance',
    activities: createSimulatedActivities(world) as unknown as Record<string, ActivityImplementation>,
    workflows: {
      async call(port, input) {
        const { name, args } = input as unknown as {
          readonly name: string;
          readonly args: readonly unknown[];
        };
        const activities = port.wait(name) as Record<
          string,
          (...args: readonly unknown[]) => Promise<unknown>
        >;
        return activities[name]?.(...args);
      },
    },
  });
  let calls = 0;
  const call = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    calls += 1;
    const id = `call-${calls}`;
    engine.signalWithStart('call', id, { name, args }, { name: 'begin', input: null });
    await engine.until(() => engine.find(id) === null, HOUR_MS);
    const closing = engine.ended.find(({ workflowId }) => workflowId === id)?.closing;
    if (closing !== undefined && closing !== 'terminated') {
      if (closing.type === 'complete') return closing.result;
      if (closing.type === 'fail') throw closing.error;
    }
    throw new Error(`${name} never ended`);
  };
  const activities = new Proxy(
    {},
    {
      get:
        (_target, name) =>
        (...args: readonly unknown[]) =>
          call(String(name), args),
    },
  ) as ValkeyTypes['activities'];
  return {
    ref: REF,
    kind: { apiVersion: API_VERSION, kind: KIND },
    activities,
    create: (spec) => Promise.resolve(void world.apply(spec)),
    close: () => Promise.resolve(),
  };
}
