/** One row: an event that, in this phase, leads to that phase. `*` stands for every phase but the target. */
export interface Transition<Phase extends string, Event extends string> {
  readonly from: Phase | '*';
  readonly event: Event;
  readonly to: Phase;
  /** The name of the specification's guard on this row, judged by the caller. */
  readonly guard?: string;
}

/** The specification's rows, and apart from them the rows that we add to it, each with its reason. */
export interface TransitionTable<Phase extends string, Event extends string> {
  readonly phases: readonly Phase[];
  readonly events: readonly Event[];
  readonly specification: readonly Transition<Phase, Event>[];
  readonly ours: readonly (Transition<Phase, Event> & { readonly why: string })[];
}

/** What an event does in a phase: move along a row, or nothing, with the sentence that says so. */
export type Outcome<Phase extends string, Event extends string> =
  | { readonly moved: true; readonly to: Phase; readonly row: Transition<Phase, Event> }
  | { readonly moved: false; readonly refusal: string };

/** Looks an event up; a pair that the table does not have changes nothing and says so. */
export function transition<Phase extends string, Event extends string>(
  table: TransitionTable<Phase, Event>,
  phase: Phase,
  event: Event,
): Outcome<Phase, Event> {
  const rows = [...table.specification, ...table.ours];
  const row =
    rows.find((one) => one.from === phase && one.event === event) ??
    rows.find((one) => one.from === '*' && one.event === event && one.to !== phase);
  if (row === undefined) return { moved: false, refusal: `${event} does not lead anywhere from ${phase}` };
  return { moved: true, to: row.to, row };
}
