/** The kernel flavours that a plan may be for. */
export const KERNELS = ['vanilla', 'vanilla-peer-tiebreaker', 'flant'] as const;
export type Kernel = (typeof KERNELS)[number];

/** How a kernel counts, as far as plans and guards depend on it. */
export interface KernelFacts {
  /** Has the `non-voting` disk option, and with it ShadowDiskful and the rows "via sD". */
  readonly shadow: boolean;
  /** Has `peer-tiebreaker=no` (DRBD 9.3.1), so that clients stay readable and still break no ties. */
  readonly peerTiebreaker: boolean;
  /** Peers known to be outdated or without quorum are no voters (`quorum-dynamic-voters`). */
  readonly dynamicVoters: boolean;
}

/** Each kernel with its abilities; flant is configured with `quorum-dynamic-voters=no`. */
export const KERNEL_FACTS: Readonly<Record<Kernel, KernelFacts>> = {
  vanilla: { shadow: false, peerTiebreaker: false, dynamicVoters: true },
  'vanilla-peer-tiebreaker': { shadow: false, peerTiebreaker: true, dynamicVoters: true },
  flant: { shadow: true, peerTiebreaker: false, dynamicVoters: false },
};

export const isKernel = (text: string): text is Kernel => KERNELS.some((kernel) => kernel === text);
