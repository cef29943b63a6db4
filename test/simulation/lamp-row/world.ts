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

/** An activity that fails so many times. */
export interface PlannedFailure {
  readonly activity: ActivityName;
  readonly code: FailureCode;
  readonly message: string;
  times: number;
}

/** All that there is, as JSON, so that it can be kept in a file that several processes share. */
export interface WorldState {
  uids: number;
  warmMs: number;
  rows: Record<string, WorldRow>;
  /** Activities that do not come back until they are let go, each with its row. */
  held: string[];
  /** Those of them that have been called and are waiting to be let go. */
  caught: string[];
  /** Those that were cancelled, took note of it, and go on all the same. */
  heard: string[];
  failing: (PlannedFailure & { row: string })[];
  /** Every effect in order, in words. */
  effects: string[];
  /** Every status that was written, by whom. */
  writes: { by: string; status: RowStatus }[];
}

/** Where the state of the world is kept. */
export interface WorldStore {
  read(): WorldState;
  /** Changes the state while nobody else does. */
  change<T>(change: (state: WorldState) => T): T;
}

const nothing: WorldState = {
  uids: 0,
  warmMs: 1_000,
  rows: {},
  held: [],
  caught: [],
  heard: [],
  failing: [],
  effects: [],
  writes: [],
};

/** Keeps the world in memory. */
export function memoryStore(): WorldStore {
  const state = emptyWorld();
  return { read: () => state, change: (change) => change(state) };
}

/** A world in which nothing is. */
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
    return this.#store.change(change);
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

  hold(ref: ResourceRef, activity: ActivityName): void {
    this.change((state) => void state.held.push(`${activity} ${keyOf(ref)}`));
  }

  letGo(ref: ResourceRef, activity: ActivityName): void {
    const key = `${activity} ${keyOf(ref)}`;
    this.change((state) => {
      state.held = state.held.filter((held) => held !== key);
      state.caught = state.caught.filter((held) => held !== key);
    });
  }

  /** Whether an activity has to wait; it is then known to be waiting. */
  catches(ref: ResourceRef, activity: ActivityName): boolean {
    const key = `${activity} ${keyOf(ref)}`;
    const { held, caught } = this.state;
    if (held.includes(key) && !caught.includes(key)) this.change((state) => void state.caught.push(key));
    return held.includes(key);
  }

  /** Notes that an activity was told to stop while it waited. */
  hears(ref: ResourceRef, activity: ActivityName): void {
    this.change((state) => void state.heard.push(`${activity} ${keyOf(ref)}`));
  }

  hasHeard(ref: ResourceRef, activity: ActivityName): boolean {
    return this.state.heard.includes(`${activity} ${keyOf(ref)}`);
  }

  hasCaught(ref: ResourceRef, activity: ActivityName): boolean {
    return this.state.caught.includes(`${activity} ${keyOf(ref)}`);
  }

  fail(ref: ResourceRef, failure: PlannedFailure): void {
    this.change((state) => void state.failing.push({ ...failure, row: keyOf(ref) }));
  }

  /** Takes the next planned failure of an activity, if there is one. */
  takeFailure(ref: ResourceRef, activity: ActivityName): PlannedFailure | null {
    return this.change(({ failing }) => {
      const next = failing.find(
        (one) => one.activity === activity && one.row === keyOf(ref) && one.times > 0,
      );
      if (next === undefined) return null;
      next.times -= 1;
      return next;
    });
  }

  /** The hint that a watch gives for a row. */
  hint(ref: ResourceRef): Hint | null {
    const row = this.row(ref);
    return row === null ? null : hintOf(row);
  }
}

const hintOf = (row: WorldRow): Hint => ({ kind: KIND, uid: row.uid, generation: row.generation });
