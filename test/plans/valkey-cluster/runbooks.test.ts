import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../workflows/shared/operation.ts';
import { transition } from '../../../workflows/shared/transitions.ts';
import type { ValkeyTypes } from '../../../workflows/valkey-cluster/contract.ts';
import type { ValkeyStep } from '../../../workflows/valkey-cluster/domain/commands.ts';
import type { ValkeyNode, ValkeyOrphan } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { PHASE_TABLE, type Event, type Phase } from '../../../workflows/valkey-cluster/domain/phases.ts';
import { planValkeyCluster } from '../../../workflows/valkey-cluster/domain/plan.ts';
import { changeReplicas } from '../../../workflows/valkey-cluster/operations/change-replicas.ts';
import { create } from '../../../workflows/valkey-cluster/operations/create.ts';
import { deleteCluster } from '../../../workflows/valkey-cluster/operations/delete.ts';
import { heal } from '../../../workflows/valkey-cluster/operations/heal.ts';
import { rebalance } from '../../../workflows/valkey-cluster/operations/rebalance.ts';
import { restart } from '../../../workflows/valkey-cluster/operations/restart.ts';
import { rotate } from '../../../workflows/valkey-cluster/operations/rotate.ts';
import { scaleDown } from '../../../workflows/valkey-cluster/operations/scale-down.ts';
import { scaleUp } from '../../../workflows/valkey-cluster/operations/scale-up.ts';
import { scale } from '../../../workflows/valkey-cluster/operations/scale.ts';
import type { ValkeyRun } from '../../../workflows/valkey-cluster/performers.ts';
import { sampleObservation } from '../../domain/valkey-cluster/sample-observation.ts';
import { anyWish, battered, formedCluster } from './any-cluster.ts';

const RUNBOOKS: readonly Operation<ValkeyTypes>[] = [
  create,
  heal,
  restart,
  rotate,
  rebalance,
  scale,
  scaleUp,
  scaleDown,
  changeReplicas,
  deleteCluster,
];

/** A run whose every step succeeds at once: what is left in the end, the runbook has forgotten. */
class Rehearsal {
  readonly input: object;
  readonly observed = sampleObservation();
  readonly port = { act: () => this.#world, wait: () => this.#world, knows: () => true };
  readonly #world = new Proxy({}, { get: () => () => Promise.resolve({ deleted: 0 }) });
  readonly served = { generation: 1 };
  phase: Phase;
  left: readonly ValkeyStep[];

  constructor(steps: readonly ValkeyStep[], phase: Phase) {
    this.input = { plan: { steps }, observed: this.observed };
    this.left = steps;
    this.phase = phase;
  }

  async perform(performers: object): Promise<void> {
    for (;;) {
      const group = this.left.filter((step) => step.group === this.left[0]?.group);
      if (group.length === 0 || !group.every((step) => Object.hasOwn(performers, step.kind))) return;
      this.left = this.left.slice(group.length);
    }
  }

  reached(event: Event): void {
    const outcome = transition(PHASE_TABLE, this.phase, event);
    if (!outcome.moved) throw new Error(outcome.refusal);
    this.phase = outcome.to;
  }

  observe = (): Promise<unknown> => Promise.resolve(this.observed);
  onCancel(): void {}
  tell(): void {}
}

async function rehearse(
  operation: string,
  steps: readonly ValkeyStep[],
  phase: Phase,
): Promise<readonly string[]> {
  const runbook = RUNBOOKS.find((one) => one.name === operation);
  if (runbook === undefined) throw new Error(`there is no runbook ${operation}`);
  const run = new Rehearsal(steps, phase);
  await runbook.run(run as unknown as ValkeyRun);
  return run.left.map((step) => step.kind);
}

const anySecrets = fc.option(
  fc.record({
    kept: fc.boolean(),
    lacking: fc.constant([]),
    older: fc.nat({ max: 1 }),
    keptSeconds: fc.constant(0),
    aclChanged: fc.boolean(),
  }),
);

const orphan: ValkeyOrphan = { id: 'f'.repeat(40), address: '', role: 'replica', slots: [], failed: true };

describe('the runbook of any plan', () => {
  it('performs every step, whatever phase an interruption left behind', async () => {
    const phases = fc.constantFrom<Phase>(
      'Running',
      'Degraded',
      'RebalancingSlots',
      'VerifyingClusterHealth',
    );
    await fc.assert(
      fc.asyncProperty(
        formedCluster(6),
        anyWish,
        fc.array(fc.nat(), { minLength: 1, maxLength: 40 }),
        fc.record({ orphans: fc.boolean(), rebalance: fc.boolean(), phase: phases }),
        anySecrets,
        async (whole, wish, blows, { orphans, rebalance: level, phase }, secrets) => {
          const nodes: readonly ValkeyNode[] = battered(whole, blows);
          const topology = {
            nodes,
            orphans: orphans ? [orphan] : [],
            ...(secrets === null ? {} : { secrets }),
          };
          const { operation, steps } = planValkeyCluster(topology, wish, { rebalance: level });
          if (operation === 'none') return;
          expect(await rehearse(operation, steps, phase), operation).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });
});
