import type { FailureCode } from '../../../workflows/shared/failure-codes.ts';
import type { News } from '../../../workflows/shared/lifecycle.ts';
import type { Hint, ResourceRef } from '../../../workflows/shared/messages.ts';
import { KIND, type LampRowActivities, type RowStatus } from './contract.ts';

export type ActivityName = keyof LampRowActivities;

/** A lamp that somebody has put in; it is warm after a while. */
interface PlacedLamp {
  readonly socket: number;
  readonly placedAtMs: number;
}

/** One row and its wish, as the API server would keep them. */
export interface WorldRow {
  uid: string;
  generation: number;
  deleting: boolean;
  wanted: number;
  sockets: number;
  approvals: boolean;
  reader: boolean;
  lamps: PlacedLamp[];
  status: RowStatus | null;
  news: News[];
}

/** All that there is, as JSON, so that it can be kept in a file that several processes share. */
export interface WorldState {
  uids: number;
  warmMs: number;
  rows: Record<string, WorldRow>;
  /** Activities that do not come back until they are let go. */
  held: ActivityName[];
  failing: { activity: ActivityName; code: FailureCode; message: string; times: number }[];
  /** Every effect in order, in words. */
  effects: string[];
  /** Every status that was written, by whom. */
  writes: { by: string; status: RowStatus }[];
}

/** Where the state of the world is kept. */
export interface WorldStore {
  read(): WorldState;
  write(state: WorldState): void;
}

const nothing: WorldState = {
  uids: 0,
  warmMs: 1_000,
  rows: {},
  held: [],
  failing: [],
  effects: [],
  writes: [],
};

/** Keeps the world in memory. */
export function memoryStore(): WorldStore {
  let state = structuredClone(nothing);
  return { read: () => state, write: (next) => void (state = next) };
}

export const emptyWorld = (): WorldState => structuredClone(nothing);

export const keyOf = (ref: ResourceRef): string => `${ref.namespace}/${ref.name}`;

/** The rows and everything that people and accidents do to them. */
export class LampWorld {
  readonly #store: WorldStore;

  constructor(store: WorldStore) {
    this.#store = store;
  }

  get state(): WorldState {
    return this.#store.read();
  }

  /** Changes the world in one piece. */
  change<T>(change: (state: WorldState) => T): T {
    const state = this.#store.read();
    const result = change(state);
    this.#store.write(state);
    return result;
  }

  row(ref: ResourceRef): WorldRow | null {
    return this.state.rows[keyOf(ref)] ?? null;
  }

  /** Creates a row, or changes the wish of one, as `kubectl apply` does. */
  apply(
    ref: ResourceRef,
    wish: Partial<Pick<WorldRow, 'wanted' | 'sockets' | 'approvals' | 'reader'>>,
  ): Hint {
    return this.change((state) => {
      const known = state.rows[keyOf(ref)];
      if (known !== undefined) {
        // Who reads there is a fact and no wish: it raises no generation.
        const { reader: _reader, ...spec } = wish;
        Object.assign(known, wish);
        if (Object.keys(spec).length > 0) known.generation += 1;
        return hintOf(known);
      }
      state.uids += 1;
      const row: WorldRow = {
        uid: `uid-${String(state.uids).padStart(4, '0')}`,
        generation: 1,
        deleting: false,
        wanted: 1,
        sockets: 8,
        approvals: false,
        reader: false,
        lamps: [],
        status: null,
        news: [],
        ...wish,
      };
      state.rows[keyOf(ref)] = row;
      return hintOf(row);
    });
  }

  /** Marks a row for deletion, which raises its generation. */
  delete(ref: ResourceRef): Hint {
    return this.change((state) => {
      const row = state.rows[keyOf(ref)];
      if (row === undefined) throw new Error(`there is no row ${keyOf(ref)}`);
      if (!row.deleting) row.generation += 1;
      row.deleting = true;
      return hintOf(row);
    });
  }

  /** Takes a row away at once, as if its finalizer had been removed by hand. */
  vanish(ref: ResourceRef): void {
    this.change((state) => void delete state.rows[keyOf(ref)]);
  }

  /** A lamp burns out. */
  breakLamp(ref: ResourceRef): Hint | null {
    return this.change((state) => {
      const row = state.rows[keyOf(ref)];
      if (row === undefined) return null;
      row.lamps.pop();
      return hintOf(row);
    });
  }

  hold(activity: ActivityName): void {
    this.change((state) => void state.held.push(activity));
  }

  letGo(activity: ActivityName): void {
    this.change((state) => void (state.held = state.held.filter((held) => held !== activity)));
  }

  /** Lets an activity fail so many times. */
  fail(activity: ActivityName, code: FailureCode, message: string, times = 1): void {
    this.change((state) => void state.failing.push({ activity, code, message, times }));
  }

  /** The hint that a watch gives for a row. */
  hint(ref: ResourceRef): Hint | null {
    const row = this.row(ref);
    return row === null ? null : hintOf(row);
  }
}

const hintOf = (row: WorldRow): Hint => ({ kind: KIND, uid: row.uid, generation: row.generation });
