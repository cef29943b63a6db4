import { badInput } from './cli-error.ts';
import type { RenderablePlan } from './render/plan-text.ts';

/** What a planner is given: files as they were parsed, still to be looked at. */
export interface OfflineInput {
  /** The resource of `-f`, when there was one. */
  readonly resource: unknown;
  readonly observed: unknown;
  /** The intents of `--intent`, when there were any. */
  readonly intent: unknown;
}

/** Plans from files alone; it contacts nothing, and refuses bad input with exit code 2. */
export type OfflinePlanner = (input: OfflineInput) => RenderablePlan;

/** The planner of each lifecycle, loaded only when it is used. */
const PLANNERS: Readonly<Record<string, () => Promise<OfflinePlanner>>> = {
  'valkey-cluster': async () => (await import('./commands/valkey-plan.ts')).planValkeyOffline,
  'valkey-upgrade': async () => (await import('./commands/upgrade-plan.ts')).planUpgradeOffline,
};

/** What a lifecycle is given that reads its files and answers by itself. */
export interface AnswererFlags {
  readonly observed: string;
  readonly intent?: string;
  readonly output: 'text' | 'json';
}

/** Answers on its own, and says with which exit code the command ends. */
export type Answerer = (flags: AnswererFlags) => Promise<number>;

const ANSWERERS: Readonly<Record<string, () => Promise<Answerer>>> = {
  datamesh: async () => (await import('./commands/datamesh-plan.ts')).planDatamesh,
};

/** The lifecycle's own way to answer a plan from files, if it has one. */
export async function loadAnswerer(lifecycle: string): Promise<Answerer | null> {
  return (await ANSWERERS[lifecycle]?.()) ?? null;
}

/** The offline planner of a lifecycle. */
export async function loadPlanner(lifecycle: string): Promise<OfflinePlanner> {
  const load = PLANNERS[lifecycle];
  if (load !== undefined) return load();
  const known = [...Object.keys(PLANNERS), ...Object.keys(ANSWERERS)].join(', ');
  throw badInput(`there is no offline plan for the lifecycle "${lifecycle}"`, `There is one for ${known}.`);
}
