import type { Member } from '../../../workflows/datamesh/domain/observed.ts';
import type { Mesh } from '../../../workflows/datamesh/domain/mesh.ts';
import type { PlannedStep } from '../../../workflows/datamesh/domain/steps.ts';
import type { KernelModel } from './kernel-models.ts';

/** One plan that runs: the member that it moves, and its steps in order. */
export interface Track {
  readonly label: string;
  readonly member: string | null;
  readonly steps: readonly PlannedStep[];
  /** What follows when a member is lost after so many steps; `refused` where a guard says so, null where nothing does. */
  afterForceRemove?(stepsDone: number, lost: string): Track | 'refused' | null;
  /** False feeds the known defect: the plan goes on without waiting until a disk is UpToDate. */
  readonly waitsForData?: boolean;
}

/** What the network may do to the members. */
export interface Network {
  /** Every partition into groups, every one into two, or every connection graph. */
  readonly cuts: 'partitions' | 'halves' | 'graphs';
  /** One side of a partition may not have noticed it yet. */
  readonly unnoticed: boolean;
  readonly crash: boolean;
}

/** A start, one plan or two that overlap, a kernel and what may go wrong. */
export interface Scenario {
  readonly name: string;
  readonly kernel: KernelModel;
  readonly start: Mesh;
  /** Every member that the plans know, the newcomers too, in the order of the model's nodes. */
  readonly members: readonly Member[];
  readonly tracks: readonly [Track] | readonly [Track, Track];
  readonly network: Network;
  /** The node that serves, for what two-phase commits outdate; null where it does not matter. */
  readonly primary: string | null;
  /** Whether a member may be force-removed although somebody still sees it: a missing guard. */
  readonly forceRemoveConnected?: boolean;
  /** Leaves the outdating by two-phase commit out, to show what it is for. */
  readonly withoutOutdating?: boolean;
}

export const MAX_NODES = 7;
