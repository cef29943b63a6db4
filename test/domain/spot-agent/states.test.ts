import { describe, expect, it } from 'vitest';
import { transition } from '../../../workflows/shared/transitions.ts';
import { EVENTS, PHASE_TABLE, PHASES } from '../../../workflows/spot-agent/domain/phases.ts';
import {
  closeInstance,
  INSTANCE_TABLE,
  STATE_EVENTS,
  STATES,
  stateOf,
} from '../../../workflows/spot-agent/domain/states.ts';

describe('the states of an instance', () => {
  const rows = [
    ['PRIMARY', 'HeartbeatReceived', 'PRIMARY'],
    ['PRIMARY', 'FailedOver', 'ZOMBIE'],
    ['REPLICA', 'Promoted', 'PRIMARY'],
    ['REPLICA', 'PromotionFailed', 'ZOMBIE'],
    ['REPLICA', 'CleanUpBegan', 'ZOMBIE'],
    ['REPLICA', 'CleanedUp', 'TERMINATED'],
    ['ZOMBIE', 'CleanedUp', 'TERMINATED'],
    ['ZOMBIE', 'RetentionExpired', 'TERMINATED'],
    ['ZOMBIE', 'TerminationConfirmed', 'TERMINATED'],
    ['REPLICA', 'TerminationConfirmed', 'TERMINATED'],
  ] as const;

  it.each(rows)('%s goes by %s to %s', (from, event, to) => {
    expect(transition(INSTANCE_TABLE, from, event)).toMatchObject({ moved: true, to });
  });

  const complement = STATES.flatMap((from) =>
    STATE_EVENTS.filter((event) => !rows.some((row) => row[0] === from && row[1] === event)).map(
      (event) => [from, event] as const,
    ),
  );

  it.each(complement)('%s is not changed by %s', (from, event) => {
    expect(transition(INSTANCE_TABLE, from, event)).toEqual({
      moved: false,
      refusal: `${event} does not lead anywhere from ${from}`,
    });
  });

  it('never lead from PRIMARY to TERMINATED in one step', () => {
    const all = [...INSTANCE_TABLE.specification, ...INSTANCE_TABLE.ours];
    expect(all.filter((row) => row.from === 'PRIMARY' && row.to === 'TERMINATED')).toEqual([]);
  });

  it.each([
    ['launching', 'REPLICA'],
    ['running_replica', 'REPLICA'],
    ['promoting', 'REPLICA'],
    ['running_primary', 'PRIMARY'],
    ['terminating', 'ZOMBIE'],
    ['zombie', 'ZOMBIE'],
    ['terminated', 'TERMINATED'],
  ] as const)('are read from the column: %s is %s', (status, state) => {
    expect(stateOf(status)).toBe(state);
  });

  it('refuse to close a PRIMARY, and what is closed', () => {
    expect(closeInstance('running_primary', 'TerminationConfirmed').moved).toBe(false);
    expect(closeInstance('terminated', 'CleanedUp').moved).toBe(false);
    expect(closeInstance('zombie', 'RetentionExpired').moved).toBe(true);
  });
});

describe('the phases of an agent', () => {
  it('have one row at most for a phase and an event, and each with its reason', () => {
    const keys = PHASE_TABLE.ours.map((row) => `${row.from} ${row.event}`);
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
    expect(PHASE_TABLE.ours.every((row) => row.why !== '')).toBe(true);
  });

  it('are left from Failed by a recovery only', () => {
    const leaving = EVENTS.filter((event) => transition(PHASE_TABLE, 'Failed', event).moved);
    expect(leaving).toEqual(['Recovered']);
  });

  it('can each be reached from Pending', () => {
    const reached = new Set(['Pending']);
    for (let size = 0; size !== reached.size;) {
      size = reached.size;
      for (const row of PHASE_TABLE.ours) if (reached.has(row.from)) reached.add(row.to);
    }
    expect(reached).toEqual(new Set(PHASES));
  });
});
