import { Client, Connection } from '@temporalio/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError, KubernetesApi } from '../../../deploy/local/kubernetes/api.ts';
import { useStack, type NamespaceHandle, type StackHandle } from '../../../deploy/local/testing.ts';
import { loadWatches } from '../../../starter/load-watches.ts';
import { readParkedWorkflows } from '../../../starter/parked-workflows.ts';
import { readDefinitions } from './definitions.ts';
import { drawLives, live, type Ground, type Told } from './life.ts';
import { fuzzLives, fuzzSeed } from './scale.ts';
import { validValue, wildSpec } from './schema-values.ts';
import { tame } from './tame.ts';

const AT_ONCE = 8;

let stack: StackHandle;
let api: KubernetesApi;
let namespace: NamespaceHandle;
let client: Client;
beforeAll(async () => {
  stack = await useStack();
  api = new KubernetesApi(stack.kubeconfig('admin'));
  namespace = await stack.createNamespace('fuzz');
  client = new Client({ connection: await Connection.connect({ address: stack.temporalAddress }) });
});
afterAll(async () => {
  await namespace.remove();
  await client.connection.close();
  api.close();
});

const watches = await loadWatches();
const LIVING = readDefinitions().flatMap((definition) => {
  const watch = watches.find(({ primary }) => primary.kind === definition.kind);
  return watch === undefined ? [] : [{ kind: definition.kind, definition, watch }];
});

describe.each(LIVING)('what is taken as a $kind', ({ definition, watch }) => {
  it('lives and dies, whatever is in it: nothing crashes, nothing is stuck, each refusal names a field', async () => {
    const seed = fuzzSeed();
    const processes = pidsOf();
    const ground: Ground = { api, client, definition, watch, namespace: namespace.name };
    const specs = fc
      .tuple(fc.oneof(validValue(definition.spec), wildSpec(definition.spec)), fc.integer({ min: 0, max: 4 }))
      .map(([spec, dice]) => tame(definition.kind, spec, dice > 0));
    const lives = await drawLives(ground, specs, { seed, count: fuzzLives() });
    expect(lives).toHaveLength(fuzzLives());

    const waiting = [...lives];
    const badRefusals: string[] = [];
    const takeTurns = async (): Promise<void> => {
      for (let life = waiting.shift(); life !== undefined; life = waiting.shift()) {
        const story = `KEELSON_FUZZ_SEED=${seed}: ${JSON.stringify(life)}`;
        const told = await live(ground, life).catch((error: unknown) => {
          throw new Error(`${String(error)}\n${story}`, { cause: error });
        });
        const wrong = [...told.flatMap(refusalsIn).filter(namesNoField), ...told.flatMap(lateRefusalsIn)];
        badRefusals.push(...wrong.map((words) => `${words}\n${story}`));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, takeTurns));

    expect(badRefusals).toEqual([]);
    expect(pidsOf()).toEqual(processes);
    expect(await stuck()).toEqual([]);
  });
});

const pidsOf = (): readonly number[] => ['starter', 'worker'].map((part) => stack.part(part).process().pid);

/** Workflows of resources that are gone, and workflows whose code fails again and again. */
async function stuck(): Promise<readonly string[]> {
  const running: string[] = [];
  const query = `KeelsonNamespace = "${namespace.name}" AND ExecutionStatus = "Running"`;
  await expect
    .poll(
      async () => {
        running.length = 0;
        for await (const { workflowId } of client.workflow.list({ query })) running.push(workflowId);
        return running;
      },
      { timeout: 30_000 },
    )
    .toEqual([]);
  const parked = await readParkedWorkflows(client);
  return parked.map(({ workflowId }) => workflowId).filter((id) => id.includes(namespace.name));
}

/** What says, through the API server or the starter, that the resource must be changed. */
function refusalsIn(told: Told | ApiError): readonly string[] {
  if (told instanceof ApiError) return [told.message];
  return told.conditions
    .filter(({ type, status }) => type === 'Accepted' && status === 'False')
    .map(({ reason, message }) => `${reason}: ${message}`);
}

/** What Kubernetes refused of a resource that was taken: its definition should have, by the name of its own field. */
const lateRefusalsIn = (told: Told | ApiError): readonly string[] =>
  !(told instanceof ApiError) && told.message.startsWith('KubernetesInvalid') ? [told.message] : [];

const namesNoField = (words: string): boolean => !/\b(?:spec|metadata)[.[:]/.test(words);
