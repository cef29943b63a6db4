import { allowed, blocked, type Guard } from '../../../../workflows/shared/guards.ts';
import { emptyPlan, type Plan, type Step } from '../../../../workflows/shared/plan.ts';
import type { LampCommand, Row } from './row.ts';

const VERSION = 1;
const AT_ONCE = 2;

/** Lights the lowest dark sockets, two lamps at a time, and discards the highest lit ones, one by one. */
export function planLamps(row: Row): Plan<LampCommand> {
  const taken = row.lamps.map((lamp) => lamp.socket).sort((a, b) => a - b);
  if (row.deleting) return planDismantling(taken);
  const missing = row.wanted - taken.length;
  if (missing < 0) return planDimming(taken.slice(missing).reverse());
  const dark = Array.from({ length: row.sockets }, (_, socket) => socket).filter(
    (socket) => !taken.includes(socket),
  );
  const placed = dark.slice(0, missing);
  const cold = row.lamps.filter((lamp) => !lamp.warm).map((lamp) => lamp.socket);
  const reason = `${taken.length} of ${row.wanted} lamps are in their sockets`;
  return plan('light-up', [
    ...placed.map((socket, at) => step({ kind: 'ScrewIn', socket }, Math.floor(at / AT_ONCE), reason)),
    ...[...cold, ...placed].map((socket) =>
      step({ kind: 'AwaitWarm', socket }, row.sockets, 'a cold lamp gives no light'),
    ),
  ]);
}

const planDimming = (sockets: readonly number[]): Plan<LampCommand> =>
  plan(
    'dim',
    sockets.map((socket, group) => step({ kind: 'Discard', socket }, group, 'fewer lamps are wanted')),
  );

const planDismantling = (sockets: readonly number[]): Plan<LampCommand> =>
  plan('dismantle', [
    ...sockets.map((socket) => step({ kind: 'Discard', socket }, 0, 'the row is being deleted')),
    step({ kind: 'Release' }, 1, 'nothing of the row is left'),
  ]);

function plan(operation: string, steps: readonly Omit<Step<LampCommand>, 'id'>[]): Plan<LampCommand> {
  if (steps.length === 0) return emptyPlan(VERSION);
  return {
    operation,
    version: VERSION,
    steps: steps.map((one, at) => ({ ...one, id: String(at + 1) }) as Step<LampCommand>),
    totals: { steps: steps.length },
  };
}

const step = (command: LampCommand, group: number, reason: string): Omit<Step<LampCommand>, 'id'> => ({
  ...command,
  group,
  reason,
  irreversible: command.kind === 'Discard',
});

/** A row never wants more lamps than it has sockets, and nobody's reading lamp is taken away. */
export const GUARDS: readonly Guard<Row, LampCommand>[] = [
  {
    name: 'Sockets',
    judge: (row, _plan, step) =>
      step === null && row.wanted > row.sockets
        ? blocked(`wants ${row.wanted} lamps but has ${row.sockets} sockets`)
        : allowed,
  },
  {
    name: 'Reader',
    judge: (row, _plan, step) =>
      step?.kind === 'Discard' && row.reader
        ? blocked('somebody reads by this light: ask them to leave')
        : allowed,
  },
];
