/** What happened between a state and the next; the argument is in the higher bits. */
export const EVENTS = {
  command: 0,
  advance: 1,
  sync: 2,
  settle: 3,
  notice: 4,
  force: 5,
  crash: 6,
  cut: 7,
} as const;
export const eventOf = (kind: number, argument: number): number => kind | (argument << 3);
