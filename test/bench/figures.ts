/** A figure is a ratio to a floor that was measured in the same run, pair by pair. */
export interface Pair {
  readonly ours: number;
  readonly floor: number;
}

/** What a benchmark ends with; its last line of output is this as JSON. */
export interface Figure {
  readonly bench: string;
  readonly ratio: number;
  readonly goal: number;
  readonly ok: boolean;
  /** The middle half of the ratios, as a share of the median. */
  readonly spread: number;
}

/** The value below which the share `p` of the values lies. */
export function quantile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * p;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The median of the ratios of pairs, which a slow moment of the machine touches on both sides. */
export function figureOf(bench: string, goal: number, pairs: readonly Pair[]): Figure {
  const ratios = pairs.map(({ ours, floor }) => ours / floor);
  const ratio = median(ratios);
  const spread = (quantile(ratios, 0.75) - quantile(ratios, 0.25)) / ratio;
  return { bench, ratio: round(ratio), goal, ok: ratio <= goal, spread: round(spread) };
}

export const round = (value: number, digits = 3): number => Number(value.toFixed(digits));

/** How much the value rises with each one more: the slope of the line nearest to the points. */
export function slopeOf(points: readonly { readonly count: number; readonly value: number }[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const counts = mean(points.map(({ count }) => count));
  const values = mean(points.map(({ value }) => value));
  const rise = points.reduce((sum, { count, value }) => sum + (count - counts) * (value - values), 0);
  const run = points.reduce((sum, { count }) => sum + (count - counts) ** 2, 0);
  return rise / run;
}
