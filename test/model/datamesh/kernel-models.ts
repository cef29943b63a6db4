import type { Kernel } from '../../../workflows/datamesh/domain/kernels.ts';

/** A kernel as the model counts. */
export interface KernelModel {
  readonly name: string;
  /** The flavour that plans are made for. */
  readonly kernel: Kernel;
  /** Peers known to be outdated or without quorum are no voters. */
  readonly dynamicVoters: boolean;
  /** Breaking a tie also needs qmr UpToDate copies: assumed of flant, never read in its source. */
  readonly tieChecksQmr: boolean;
  /** A node without a disk needs qmr peers that have quorum, not one: assumed of flant as well. */
  readonly clientChecksQmr: boolean;
}

/** Every kernel that is checked; flant with and without its assumed checks. */
export const KERNEL_MODELS: readonly KernelModel[] = [
  { name: 'vanilla', kernel: 'vanilla', dynamicVoters: true, tieChecksQmr: false, clientChecksQmr: false },
  {
    name: 'vanilla-peer-tiebreaker',
    kernel: 'vanilla-peer-tiebreaker',
    dynamicVoters: true,
    tieChecksQmr: false,
    clientChecksQmr: false,
  },
  { name: 'flant', kernel: 'flant', dynamicVoters: false, tieChecksQmr: true, clientChecksQmr: true },
  {
    name: 'flant-unchecked',
    kernel: 'flant',
    dynamicVoters: false,
    tieChecksQmr: false,
    clientChecksQmr: false,
  },
];

/** A kernel model by its name. */
export function kernelModel(name: string): KernelModel {
  const found = KERNEL_MODELS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no kernel model ${name}`);
  return found;
}
