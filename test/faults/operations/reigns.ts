/** For how long one node took writes for a slot in one epoch of its own. */
export interface Reign {
  readonly slot: number;
  readonly nodeId: string;
  readonly epoch: number;
  /** When the first of its writes was acknowledged: it was carried out before. */
  readonly firstAnsweredMs: number;
  /** When the last write that it acknowledged was sent: it was carried out after. */
  readonly lastSentMs: number;
}

/** One write that a node took. */
export interface Taken extends Pick<Reign, 'slot' | 'nodeId' | 'epoch'> {
  readonly sentMs: number;
  readonly answeredMs: number;
}

/** Gathers the writes that nodes took, without keeping each of them. */
export class Reigns {
  readonly #all = new Map<string, Reign>();

  get all(): readonly Reign[] {
    return [...this.#all.values()];
  }

  add({ slot, nodeId, epoch, sentMs, answeredMs }: Taken): void {
    const key = `${slot} ${nodeId} ${epoch}`;
    const known = this.#all.get(key);
    this.#all.set(key, {
      slot,
      nodeId,
      epoch,
      firstAnsweredMs: Math.min(answeredMs, known?.firstAnsweredMs ?? Infinity),
      lastSentMs: Math.max(sentMs, known?.lastSentMs ?? -Infinity),
    });
  }
}

/**
 * Two nodes that took writes for one slot although only one could keep them, in words; null when there were none. A slot
 * may change hands, and back, but each time in a higher epoch: two nodes in the same one, or a write to a node after
 * another one had taken one in a higher epoch, are two masters.
 */
export function findRivals(reigns: readonly Reign[]): string | null {
  for (const one of reigns) {
    for (const other of reigns) {
      if (one.slot !== other.slot || one.nodeId === other.nodeId) continue;
      if (one.epoch === other.epoch)
        return `${one.nodeId} and ${other.nodeId} both took writes for slot ${one.slot} in epoch ${one.epoch}`;
      if (one.epoch < other.epoch && one.lastSentMs >= other.firstAnsweredMs)
        return `${one.nodeId} (epoch ${one.epoch}) took a write for slot ${one.slot} after ${other.nodeId} had in epoch ${other.epoch}`;
    }
  }
  return null;
}
