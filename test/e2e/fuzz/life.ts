import { setTimeout as sleep } from 'node:timers/promises';
import {
  QueryNotRegisteredError,
  QueryRejectedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
  type WorkflowHandle,
} from '@temporalio/client';
import fc from 'fast-check';
import { ApiError, type KubernetesApi, type KubernetesObject } from '../../../deploy/local/kubernetes/api.ts';
import type { LifecycleWatch } from '../../../starter/watch-definition.ts';
import { entityId, type EntityStatus } from '../../../workflows/shared/messages.ts';
import type { Command, Json, PlanEnvelope } from '../../../workflows/shared/plan.ts';
import { pathOf, type Definition } from './definitions.ts';
import { wildValue } from './schema-values.ts';

const LOOK_MS = 250;
const LIMIT_SECONDS = 120;
const QUIET_LOOKS = 6;
/** Most of what is drawn is refused. */
const DRAWN_FOR_EACH = 40;
const MERGE = 'application/merge-patch+json';

/** What one object is to go through. */
export interface Life {
  readonly name: string;
  readonly spec: Json;
  /** What its owner changes it to while its workflow works on it. */
  readonly then: Json;
  /** What somebody sends its workflow who does not know what a hint is. */
  readonly noise: readonly Json[];
}

/** What an object said of itself. */
export interface Told {
  readonly phase: string;
  readonly message: string;
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
}

/** The place in which objects live. */
export interface Ground {
  readonly api: KubernetesApi;
  readonly client: Client;
  readonly definition: Definition;
  readonly watch: LifecycleWatch;
  readonly namespace: string;
}

/** The lives of so many objects that the API server takes. */
export async function drawLives(
  ground: Ground,
  specs: fc.Arbitrary<Json>,
  options: { readonly seed: number; readonly count: number },
): Promise<readonly Life[]> {
  const drawn = fc.sample(fc.tuple(specs, specs, fc.array(wildValue, { maxLength: 3 })), {
    seed: options.seed,
    numRuns: options.count * DRAWN_FOR_EACH,
  });
  const lives: Life[] = [];
  for (const [spec, then, noise] of drawn) {
    if (lives.length === options.count) break;
    const life = { name: `fuzz-${lives.length}`, spec, then, noise };
    if ((await create(ground, life, '?dryRun=All')) === null) lives.push(life);
  }
  return lives;
}

/** Creates, disturbs, changes and deletes one object; answers everything that it said, and what refused its change. */
export async function live(ground: Ground, life: Life): Promise<readonly (Told | ApiError)[]> {
  const refusal = await create(ground, life);
  if (refusal !== null) throw refusal;
  const first = await until(`${life.name} to say something`, async () => toldBy(await read(ground, life)));
  for (const hint of life.noise) await disturb(ground, life, hint);
  const settled = await untilQuiet(async () => toldBy(await read(ground, life)));
  const changed = await change(ground, life);
  const last = await untilQuiet(async () => toldBy(await read(ground, life)));
  await ground.api.send('DELETE', pathOf(ground.definition, ground.namespace, life.name));
  await until(`${life.name} to be gone`, async () => {
    if ((await read(ground, life)) === null) return true;
    await approve(ground, life);
    return null;
  });
  return [first, settled, changed, last].filter((one) => one !== null);
}

async function create(ground: Ground, { name, spec }: Life, query = ''): Promise<ApiError | null> {
  const { apiVersion, kind } = ground.definition;
  const path = `${pathOf(ground.definition, ground.namespace)}${query}`;
  return refusalOf(() => ground.api.send('POST', path, { apiVersion, kind, metadata: { name }, spec }));
}

const change = (ground: Ground, { name, then }: Life): Promise<ApiError | null> =>
  refusalOf(() =>
    ground.api.send('PATCH', pathOf(ground.definition, ground.namespace, name), { spec: then }, MERGE),
  );

async function refusalOf(request: () => Promise<unknown>): Promise<ApiError | null> {
  try {
    await request();
    return null;
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return error;
    throw error;
  }
}

const entityOf = ({ client, watch, namespace }: Ground, { name }: Life): WorkflowHandle =>
  client.workflow.getHandle(entityId(watch.lifecycle, { namespace, name }));

const disturb = (ground: Ground, life: Life, hint: Json): Promise<void> =>
  entityOf(ground, life).signal('hint', hint);

/** A resource that asks for approvals has asked for one of its deletion too. */
async function approve(ground: Ground, life: Life): Promise<void> {
  const entity = entityOf(ground, life);
  try {
    const { waiting } = await entity.query<EntityStatus>('status');
    const plan = await entity.query<PlanEnvelope<Command> | null>('plan');
    if (waiting?.on !== 'approval' || plan === null) return;
    await entity.executeUpdate('approve', { args: [{ hash: plan.hash, by: 'the test', reason: 'it ends' }] });
  } catch (error) {
    if (!isOver(error)) throw error;
  }
}

/** Its workflow has ended meanwhile, as it should, or what it wanted approved has changed. */
const isOver = (error: unknown): boolean =>
  error instanceof WorkflowNotFoundError ||
  error instanceof WorkflowUpdateFailedError ||
  error instanceof QueryNotRegisteredError ||
  error instanceof QueryRejectedError;

async function read({ api, definition, namespace }: Ground, life: Life): Promise<KubernetesObject | null> {
  try {
    return (await api.send('GET', pathOf(definition, namespace, life.name))) as KubernetesObject;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

function toldBy(object: KubernetesObject | null): Told | null {
  const { phase = '', message = '', conditions = [] } = (object?.['status'] ?? {}) as Partial<Told>;
  return conditions.length === 0 ? null : { phase, message, conditions };
}

/** What is said once nothing new has been said for a while; how long that takes decides nothing but how much is seen. */
async function untilQuiet<T>(look: () => Promise<T>): Promise<T> {
  let said = await look();
  for (let quiet = 0; quiet < QUIET_LOOKS; quiet += 1) {
    await sleep(LOOK_MS);
    const now = await look();
    if (JSON.stringify(now) !== JSON.stringify(said)) quiet = 0;
    said = now;
  }
  return said;
}

async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const endMs = Date.now() + LIMIT_SECONDS * 1_000;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > endMs) throw new Error(`waited ${LIMIT_SECONDS} s for ${what}`);
    await sleep(LOOK_MS);
  }
}
