import type { Lifecycle, View } from '../../../workflows/shared/lifecycle.ts';
import type { Condition } from '../../../workflows/shared/messages.ts';
import { KIND, LIFECYCLE, type LampRowTypes } from './contract.ts';
import { PHASE_TABLE } from './domain/phases.ts';
import { GUARDS, planLamps } from './domain/plan.ts';

/** A row of lamps: the smallest lifecycle that has everything, on which the core is tried. */
export const lampRow: Lifecycle<LampRowTypes> = {
  name: LIFECYCLE,
  kind: KIND,
  initialPhase: 'Dark',
  table: PHASE_TABLE,
  events: {
    failed: 'RowFailed',
    recovered: 'RowRecovered',
    superseded: 'RowSuperseded',
    cancelled: 'RowCancelled',
  },
  guards: GUARDS,
  operations: { 'light-up': 'lampRowLightUp', dim: 'lampRowDim', dismantle: 'lampRowDismantle' },
  observe: (port, ref) => port.act('what is there').observeLampRow(ref),
  served: (row) => ({
    kind: KIND,
    uid: row.uid,
    generation: row.generation,
    deleting: row.deleting,
    phase: row.phase,
    carriedOut: row.carriedOut,
    approvals: row.approvals,
  }),
  plan: (row) => planLamps(row),
  settle: (row, phase) =>
    phase === 'Lit' || phase === 'Dismantling' || planLamps(row).steps.length > 0 ? [] : ['LampsWarm'],
  lost: (row) =>
    row.wanted < 1
      ? { code: 'ResourceInvalid', class: 'validation', message: `spec.wanted is ${row.wanted}` }
      : null,
  summary: (row, plan) => `${plan.operation}: ${row.lamps.length} → ${row.deleting ? 0 : row.wanted} lamps`,
  conditions,
  async report(port, view) {
    const { served, phase, message, reason, carriedOut } = view;
    await port.act(`status: ${phase}`).reportLampRow({
      ref: view.observed.ref,
      uid: served.uid,
      status: { phase, message, reason, carriedOut, conditions: conditions(view) },
    });
  },
  async announce(port, view, news) {
    const { observed, served } = view;
    await port.act(`event: ${news.reason}`).announceLampRow({ ref: observed.ref, uid: served.uid, news });
  },
};

function conditions(view: View<LampRowTypes>): readonly Condition[] {
  const condition = (type: string, holds: boolean): Condition => ({
    type,
    status: holds ? 'True' : 'False',
    reason: view.reason,
    message: view.message,
    observedGeneration: view.served.generation,
  });
  return [
    condition('Ready', view.phase === 'Lit'),
    condition('Blocked', view.blocked !== null),
    condition('Failed', view.failure !== null),
  ];
}
