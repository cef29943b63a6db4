import type { ResourceRef } from '../../../workflows/shared/messages.ts';
import { failure } from '../../../workflows/shared/failures.ts';
import type { LampRowActivities, RowTarget } from './contract.ts';
import { keyOf, type ActivityName, type LampWorld, type WorldRow, type WorldState } from './world.ts';

/** One attempt at an activity, whatever runs it: the simulator or a Temporal worker. */
export interface Attempt {
  readonly number: number;
  readonly workflowId: string;
  nowMs(): number;
  /** Waits, and throws when the attempt is cancelled meanwhile. */
  sleep(ms: number): Promise<void>;
  /** Waits, whatever happens. */
  rest(ms: number): Promise<void>;
}

const POLL_MS = 50;
/** What may not be left in the middle, and so ends in its own time when it is cancelled. */
const STUBBORN: ReadonlySet<ActivityName> = new Set(['screwInLamp', 'discardLamp']);

/** The activities of the example, each safe to repeat: it looks first, and finding the work done is success. */
export function createLampRowActivities(world: LampWorld, attempt: () => Attempt): LampRowActivities {
  const enter = async (name: ActivityName, ref: ResourceRef): Promise<Attempt> => {
    const current = attempt();
    while (world.catches(ref, name)) {
      if (world.hasHeard(ref, name)) await current.rest(POLL_MS);
      else
        await current.sleep(POLL_MS).catch((error: unknown) => {
          if (!STUBBORN.has(name)) throw error;
          world.hears(ref, name);
        });
    }
    const refusal = world.takeFailure(ref, name);
    if (refusal !== null) throw failure(refusal.code, refusal.message);
    return current;
  };
  const act = async <T>(
    name: ActivityName,
    target: RowTarget,
    effect: (row: WorldRow, note: (text: string) => void, attempt: Attempt, state: WorldState) => T,
  ): Promise<T> => {
    const current = await enter(name, target.ref);
    return world.change((state) =>
      effect(
        fenced(state, target),
        (text) => void state.effects.push(`${keyOf(target.ref)}: ${text}`),
        current,
        state,
      ),
    );
  };
  return {
    async observeLampRow(ref) {
      const current = await enter('observeLampRow', ref);
      const row = world.row(ref);
      if (row === null) return null;
      const { status, news: _news, lamps, ...rest } = row;
      return {
        ...rest,
        ref,
        lamps: lamps.map(({ socket, placedAtMs }) => ({
          socket,
          warm: current.nowMs() - placedAtMs >= world.state.warmMs,
        })),
        phase: status?.phase ?? null,
        carriedOut: status?.carriedOut ?? null,
      };
    },
    screwInLamp: (target) =>
      act('screwInLamp', target, (row, note, current) => {
        if (!row.lamps.some((lamp) => lamp.socket === target.socket)) {
          row.lamps.push({ socket: target.socket, placedAtMs: current.nowMs() });
          note(`screw in ${target.socket}`);
        }
        return { attempts: current.number };
      }),
    async awaitLampWarm(target) {
      const current = await enter('awaitLampWarm', target.ref);
      for (;;) {
        const lamp = fenced(world.state, target).lamps.find((one) => one.socket === target.socket);
        if (lamp === undefined)
          throw failure('GenerationMoved', `the lamp in socket ${target.socket} is gone`);
        if (current.nowMs() - lamp.placedAtMs >= world.state.warmMs) return;
        await current.sleep(POLL_MS);
      }
    },
    unscrewLamp: (target) =>
      act('unscrewLamp', target, (row, note) => takeOut(row, target.socket, 'unscrew', note)),
    discardLamp: (target) =>
      act('discardLamp', target, (row, note) => takeOut(row, target.socket, 'discard', note)),
    async releaseLampRow(target) {
      await enter('releaseLampRow', target.ref);
      world.change((state) => {
        const row = state.rows[keyOf(target.ref)];
        if (row?.uid === target.uid) delete state.rows[keyOf(target.ref)];
      });
    },
    reportLampRow: (target) =>
      act('reportLampRow', target, (row, _note, current, state) => {
        row.status = target.status;
        state.writes.push({ by: current.workflowId, status: target.status });
      }),
    announceLampRow: (target) => act('announceLampRow', target, (row) => void row.news.push(target.news)),
  };
}

function fenced(state: WorldState, target: RowTarget): WorldRow {
  const row = state.rows[keyOf(target.ref)];
  if (row === undefined) throw failure('ResourceGone', `${keyOf(target.ref)} is gone`);
  if (row.uid !== target.uid) throw failure('ResourceReplaced', `${keyOf(target.ref)} is another one now`);
  return row;
}

function takeOut(row: WorldRow, socket: number, how: string, note: (text: string) => void): void {
  if (!row.lamps.some((lamp) => lamp.socket === socket)) return;
  row.lamps = row.lamps.filter((lamp) => lamp.socket !== socket);
  note(`${how} ${socket}`);
}
