/** Where the members of a volume may be. */
export const TOPOLOGIES = ['Ignored', 'Zonal', 'TransZonal'] as const;
export type Topology = (typeof TOPOLOGIES)[number];

/** A composition of members, and what it gives. */
export interface Layout {
  readonly name: string;
  readonly ftt: number;
  readonly gmdr: number;
  readonly diskful: number;
  readonly tiebreakers: number;
  readonly q: number;
  readonly qmr: number;
}

/** The quorum that so many voters need: always computed, never counted up or down. */
export const quorumOf = (voters: number): number => Math.floor(voters / 2) + 1;

/** How many tie-breakers so many voters need for this FTT; also on the way to more voters, so that none is given up early. */
export const tiebreakersFor = (voters: number, ftt: number): number =>
  voters > 0 && voters % 2 === 0 && ftt >= voters / 2 ? 1 : 0;

/** The layout that FTT and GMDR ask for. */
export function layoutOf(ftt: number, gmdr: number): Layout {
  const diskful = ftt + gmdr + 1;
  const tiebreakers = tiebreakersFor(diskful, ftt);
  return {
    name: tiebreakers > 0 ? `${diskful}D+${tiebreakers}TB` : `${diskful}D`,
    ftt,
    gmdr,
    diskful,
    tiebreakers,
    q: quorumOf(diskful),
    qmr: gmdr + 1,
  };
}

/** FTT and GMDR are 0 to 2 and at most one apart: seven layouts. */
export const LAYOUTS: readonly Layout[] = [
  layoutOf(0, 0),
  layoutOf(1, 0),
  layoutOf(0, 1),
  layoutOf(1, 1),
  layoutOf(2, 1),
  layoutOf(1, 2),
  layoutOf(2, 2),
];

/** One edge of the layout graph: a change of one parameter by one, upwards. */
export interface LayoutEdge {
  readonly lower: Layout;
  readonly upper: Layout;
  readonly parameter: 'FTT' | 'GMDR';
}

/** The graph between layouts; each edge can be walked in both directions. */
export const LAYOUT_EDGES: readonly LayoutEdge[] = LAYOUTS.flatMap((lower) =>
  LAYOUTS.flatMap((upper): LayoutEdge[] => {
    if (upper.ftt === lower.ftt + 1 && upper.gmdr === lower.gmdr) return [{ lower, upper, parameter: 'FTT' }];
    if (upper.gmdr === lower.gmdr + 1 && upper.ftt === lower.ftt)
      return [{ lower, upper, parameter: 'GMDR' }];
    return [];
  }),
);

/** Why no layout has these numbers, or null when one has. */
export function refuseLayout(ftt: number, gmdr: number): string | null {
  for (const [name, value] of [
    ['FTT', ftt],
    ['GMDR', gmdr],
  ] as const) {
    if (!Number.isInteger(value) || value < 0 || value > 2) return `${name} must be 0, 1 or 2, not ${value}`;
  }
  if (Math.abs(ftt - gmdr) > 1)
    return `|FTT−GMDR| must be at most 1, but FTT=${ftt} and GMDR=${gmdr} are ${Math.abs(ftt - gmdr)} apart`;
  return null;
}

/** The layouts on the way, both ends included: upwards GMDR first, downwards FTT first. */
export function layoutWay(from: Layout, to: Layout): readonly Layout[] {
  const way = [from];
  let { ftt, gmdr } = from;
  while (ftt !== to.ftt || gmdr !== to.gmdr) {
    const moves = [
      { ftt, gmdr: gmdr + 1, wanted: gmdr < to.gmdr },
      { ftt: ftt + 1, gmdr, wanted: ftt < to.ftt },
      { ftt: ftt - 1, gmdr, wanted: ftt > to.ftt },
      { ftt, gmdr: gmdr - 1, wanted: gmdr > to.gmdr },
    ];
    const next = moves.find((move) => move.wanted && refuseLayout(move.ftt, move.gmdr) === null);
    if (next === undefined) throw new Error(`no way from ${from.name} to ${to.name}`);
    ({ ftt, gmdr } = next);
    way.push(layoutOf(ftt, gmdr));
  }
  return way;
}
