import type { Kernel } from './kernels.ts';
import type { Topology } from './layouts.ts';
import type { MemberState, MemberType } from './member-states.ts';

export const VOLUME_ACCESS = ['Local', 'EventuallyLocal', 'PreferablyLocal', 'Any'] as const;
export type VolumeAccess = (typeof VOLUME_ACCESS)[number];
export const MODES = ['managed', 'manual'] as const;
export type Mode = (typeof MODES)[number];

/** A member of the datamesh as it was observed. */
export interface Member {
  readonly name: string;
  readonly type: MemberState;
  readonly node: string;
  readonly zone: string;
  readonly upToDate: boolean;
  readonly attached: boolean;
  /** Names of the members that report a connection to it; absent when nobody looked. */
  readonly connectedTo?: readonly string[];
}

/** What a user or the scheduler wants to be on a node. */
export interface Replica {
  readonly name: string;
  readonly wants: MemberType;
  readonly node: string;
  readonly zone: string;
  readonly deleting: boolean;
}

/** A transition that had begun when the observation was made. */
export interface ActiveTransition {
  readonly transition: string;
  readonly member: string | null;
  readonly step: number;
}

export interface Configuration {
  readonly ftt: number;
  readonly gmdr: number;
  readonly topology: Topology;
  readonly volumeAccess: VolumeAccess;
  readonly mode: Mode;
}

/** All that a plan is made from. */
export interface Observed {
  readonly resource: string;
  readonly kernel: Kernel;
  readonly q: number;
  readonly qmr: number;
  readonly configuration: Configuration;
  readonly members: readonly Member[];
  /** Null when the replicas were not observed: then members stand for them. */
  readonly replicas: readonly Replica[] | null;
  readonly active: readonly ActiveTransition[];
}

/** What someone asks for explicitly. */
export type Intent =
  | {
      readonly op: 'AddMember';
      readonly member: string;
      readonly type: MemberType;
      readonly node: string;
      readonly zone: string;
    }
  | { readonly op: 'RemoveMember'; readonly member: string }
  | {
      readonly op: 'ChangeMemberType';
      readonly member: string;
      readonly from: MemberState;
      readonly to: MemberType;
    }
  | { readonly op: 'ChangeQuorum'; readonly q: number; readonly qmr: number }
  | { readonly op: 'ForceRemove'; readonly member: string };
