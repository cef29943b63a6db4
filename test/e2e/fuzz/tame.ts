import type { Json } from '../../../workflows/shared/plan.ts';

type Fields = { readonly [key: string]: Json | undefined };

/** How a resource is kept small without being kept from its workflow, by kind; others live as they are. */
const TAMED: Readonly<Record<string, (spec: Fields) => Fields>> = {
  // Pods that no node takes cost nothing; the rest of the spec is worked through all the same.
  ValkeyCluster: (spec) => ({
    ...spec,
    masters: atMost(spec['masters'], 4),
    replicasPerMaster: atMost(spec['replicasPerMaster'], 1),
    scheduling: {
      ...fieldsOf(spec['scheduling']),
      nodeSelector: { ...fieldsOf(fieldsOf(spec['scheduling'])['nodeSelector']), 'keelson-fuzz': 'nowhere' },
    },
  }),
};

/** What a resource waits for others with, by kind: without it, its workflow comes further. */
const FREED: Readonly<Record<string, (spec: Fields) => Fields>> = {
  ValkeyCluster: ({ auth: _auth, tls: _tls, image, ...spec }) => {
    const { pullSecrets: _pullSecrets, ...rest } = fieldsOf(image);
    return { ...spec, image: rest };
  },
};

/** The same spec, small, and free of what it would wait for if asked. */
export function tame(kind: string, spec: Json, free: boolean): Json {
  const small = TAMED[kind]?.(fieldsOf(spec)) ?? spec;
  return free ? (FREED[kind]?.(fieldsOf(small)) ?? small) : small;
}

const atMost = (value: Json | undefined, limit: number): Json | undefined =>
  typeof value === 'number' ? Math.min(value, limit) : value;

const fieldsOf = (value: Json | undefined): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
