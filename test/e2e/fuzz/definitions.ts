import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { Schema } from './schema-values.ts';

const DIRECTORY = fileURLToPath(new URL('../../../deploy/crds/', import.meta.url));

/** One kind of resource, as its definition describes it. */
export interface Definition {
  readonly kind: string;
  readonly apiVersion: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly spec: Schema;
}

interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly {
      readonly name: string;
      readonly storage: boolean;
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

/** Every definition of a resource that there is: a new one is fuzzed without anybody remembering. */
export function readDefinitions(): readonly Definition[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => parse(readFileSync(`${DIRECTORY}${file}`, 'utf8')) as Manifest)
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .map(definitionOf);
}

function definitionOf({ spec: { group, names, versions } }: Manifest): Definition {
  const stored = versions.find((version) => version.storage);
  const spec = stored?.schema.openAPIV3Schema.properties?.['spec'];
  if (stored === undefined || spec === undefined) throw new Error(`${names.kind} has no schema of its spec`);
  const { kind, plural } = names;
  return { kind, plural, group, version: stored.name, apiVersion: `${group}/${stored.name}`, spec };
}

/** The path of the objects of a kind in a namespace, or of one of them. */
export const pathOf = ({ group, version, plural }: Definition, namespace: string, name?: string): string =>
  `/apis/${group}/${version}/namespaces/${namespace}/${plural}${name === undefined ? '' : `/${name}`}`;
