/** What one step of a ChangeQuorum sets. */
export type QuorumSetting = 'q' | 'qmr';

/** One of the four orders in which q and qmr change, by direction. */
export interface QuorumOrder {
  readonly plan: string;
  readonly q: 'raise' | 'lower';
  readonly qmr: 'raise' | 'lower';
  readonly order: readonly [QuorumSetting, QuorumSetting];
  readonly when: string;
}

/** ChangeQuorum in four orders. A value that does not change makes no step. */
export const QUORUM_ORDERS: readonly QuorumOrder[] = [
  { plan: 'lower/v1', q: 'lower', qmr: 'lower', order: ['qmr', 'q'], when: 'neither rises' },
  { plan: 'raise/v1', q: 'raise', qmr: 'raise', order: ['q', 'qmr'], when: 'neither falls' },
  {
    plan: 'lower-q-raise-qmr/v1',
    q: 'lower',
    qmr: 'raise',
    order: ['q', 'qmr'],
    when: 'q falls and qmr rises',
  },
  {
    plan: 'raise-q-lower-qmr/v1',
    q: 'raise',
    qmr: 'lower',
    order: ['q', 'qmr'],
    when: 'q rises and qmr falls',
  },
];

interface Quorum {
  readonly q: number;
  readonly qmr: number;
}

/** The order for this change; a value that stays counts as going the way of the other. */
export function selectQuorumOrder(from: Quorum, to: Quorum): QuorumOrder {
  const way = (a: number, b: number): 'raise' | 'lower' | null => (b > a ? 'raise' : b < a ? 'lower' : null);
  const q = way(from.q, to.q) ?? way(from.qmr, to.qmr) ?? 'raise';
  const qmr = way(from.qmr, to.qmr) ?? q;
  const found = QUORUM_ORDERS.find((order) => order.q === q && order.qmr === qmr);
  if (found === undefined) throw new Error(`no order for ${q} q and ${qmr} qmr`);
  return found;
}
