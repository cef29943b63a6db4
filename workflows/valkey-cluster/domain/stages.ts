import type { Facts } from '../../shared/plan.ts';
import type { ValkeyCommand, ValkeyStep } from './commands.ts';

/** A step before it has its place in the plan. */
export type Draft = ValkeyCommand & {
  readonly reason: string;
  readonly irreversible?: boolean;
  readonly facts?: Facts;
};

/** Drafts that may run side by side. */
export type Stage = readonly Draft[];

/** Numbers the steps; each stage that has any becomes a group. */
export function numberSteps(stages: readonly Stage[]): readonly ValkeyStep[] {
  return stages
    .filter((stage) => stage.length > 0)
    .flatMap((stage, at) => stage.map((draft) => ({ draft, group: at + 1 })))
    .map(({ draft, group }, at) => ({
      id: String(at + 1),
      group,
      ...draft,
      irreversible: draft.irreversible ?? false,
    }));
}
