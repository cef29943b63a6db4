/** How long to wait between attempts: doubled each time up to a limit. */
export interface BackOff {
  readonly firstMs: number;
  readonly limitMs: number;
}

/** The wait before the next attempt after `failures` failures in a row; `random` (0 to 1) spreads it over the upper half. */
export function backOffMs(backOff: BackOff, failures: number, random: number): number {
  const doubled = backOff.firstMs * 2 ** Math.min(Math.max(failures - 1, 0), 30);
  const fullMs = Math.min(doubled, backOff.limitMs);
  return Math.round(fullMs / 2 + (fullMs / 2) * random);
}
