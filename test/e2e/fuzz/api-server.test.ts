import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError, KubernetesApi } from '../../../deploy/local/kubernetes/api.ts';
import { useStack, type NamespaceHandle } from '../../../deploy/local/testing.ts';
import type { Json } from '../../../workflows/shared/plan.ts';
import { pathOf, readDefinitions, type Definition } from './definitions.ts';
import { nearMiss } from './near-misses.ts';
import { fuzzRuns, fuzzSeed } from './scale.ts';
import { validValue, wildSpec } from './schema-values.ts';

/** A field as a person finds it in a manifest. */
const NAMES_A_FIELD = /\b(?:spec|metadata)(?:[.[:]|\b)/;

let api: KubernetesApi;
let namespace: NamespaceHandle;
beforeAll(async () => {
  const stack = await useStack();
  api = new KubernetesApi(stack.kubeconfig('admin'));
  namespace = await stack.createNamespace('fuzz');
});
afterAll(async () => {
  await namespace.remove();
  api.close();
});

/** Asks the API server what it makes of an object, without a trace; answers its refusal, or null. */
async function refusalOf(definition: Definition, spec: Json, name = 'fuzz'): Promise<ApiError | null> {
  const { apiVersion, kind } = definition;
  try {
    const path = `${pathOf(definition, namespace.name)}?dryRun=All`;
    await api.send('POST', path, { apiVersion, kind, metadata: { name }, spec });
    return null;
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return error;
    throw error;
  }
}

/** A refusal that a person can act on. */
const expectNamedField = (refusal: ApiError | null): void =>
  expect(refusal === null || NAMES_A_FIELD.test(refusal.message), refusal?.message).toBe(true);

const scale = (): { readonly numRuns: number; readonly seed: number } => ({
  numRuns: fuzzRuns(),
  seed: fuzzSeed(),
});

describe.each(readDefinitions())('a $kind', (definition) => {
  it('that keeps to its schema is taken, or refused by a rule that names a field', async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(validValue(definition.spec), async (spec) => {
        const refusal = await refusalOf(definition, spec);
        if (refusal === null) taken += 1;
        expectNamedField(refusal);
      }),
      scale(),
    );
    expect(taken).toBeGreaterThan(0);
  });

  it('with one thing wrong is refused by the name of the very field', async () => {
    await fc.assert(
      fc.asyncProperty(nearMiss(definition.spec), async ({ field, spec }) => {
        const refusal = await refusalOf(definition, spec);
        expect(refusal?.message ?? 'it was taken').toContain(field);
      }),
      scale(),
    );
  });

  it('with anything in it is taken, or refused in words that name a field', async () => {
    await fc.assert(
      fc.asyncProperty(wildSpec(definition.spec), async (spec) => {
        const refusal = await refusalOf(definition, spec);
        expectNamedField(refusal);
      }),
      scale(),
    );
  });

  it('with any name is taken, or refused by the name of that field', async () => {
    const [spec = {}] = fc.sample(validValue(definition.spec), { numRuns: 1, seed: 1 });
    const names = fc.oneof(fc.string({ minLength: 1 }), fc.stringMatching(/^[a-z0-9.-]{1,260}$/));
    await fc.assert(
      fc.asyncProperty(names, async (name) => {
        const refusal = await refusalOf(definition, spec, name);
        expectNamedField(refusal);
      }),
      scale(),
    );
  });
});
