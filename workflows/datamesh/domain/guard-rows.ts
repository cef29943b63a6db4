import type { Running } from './parallelism.ts';
import type { Mesh } from './mesh.ts';
import type { MemberState } from './member-states.ts';
import type { Member } from './observed.ts';

/** What a guard judges: a transition of one member in a mesh, with what else is running. */
export interface GuardCase {
  readonly mesh: Mesh;
  readonly op: 'AddMember' | 'RemoveMember' | 'ChangeMemberType' | 'ForceRemove';
  readonly subject: Member;
  readonly from: MemberState;
  readonly to: MemberState;
  readonly active: readonly Running[];
}

/** A guard's answer: null allows; a text blocks; `needs` says which fact is missing. */
export type GuardAnswer = null | { readonly message: string } | { readonly needs: string };

/** One guard: when it is asked, what it answers, and the way out that a blocked person has. */
export interface GuardRow {
  readonly name: string;
  readonly asked: 'removing any member' | 'leaving D' | 'leaving TB' | 'adding TB' | 'ForceRemove';
  readonly condition: string;
  /** The blocked message, with its numbers as names in braces. */
  readonly message: string;
  readonly wayOut: string;
  readonly origin: 'specification' | 'changed' | 'added';
  judge(input: GuardCase): GuardAnswer;
}

/** Fills a message's braces. */
export const blockedWith = (
  template: string,
  values: Readonly<Record<string, string | number>>,
): { readonly message: string } => ({
  message: template.replaceAll(/\{(\w+)\}/gu, (_, key: string) => String(values[key] ?? `{${key}}`)),
});
