import type { AskedPlan } from './live-plan.ts';

/** How the plan of a wish for some resource is asked for: a kind that is watched beside the resource of a lifecycle. */
export interface WishPlan {
  /** The name under which its offline planner is found. */
  readonly lifecycle: string;
  /** The dry run is the workflow of this name with `Plan` behind it. */
  readonly workflowType: string;
  /** Refuses a manifest that the API server would refuse, and answers what the dry run is asked, and of which resource. */
  readonly load: () => Promise<(manifest: unknown) => { readonly of: string; readonly asked: AskedPlan }>;
}

const WISHES: Readonly<Record<string, WishPlan>> = {
  ValkeyUpgrade: {
    lifecycle: 'valkey-upgrade',
    workflowType: 'valkeyUpgrade',
    load: async () => (await import('./commands/upgrade-plan.ts')).askUpgradePlan,
  },
};

/** How the plan of a wish of this kind is asked for; null when there is no such kind. */
export const findWishPlan = (kind: string): WishPlan | null => WISHES[kind] ?? null;
