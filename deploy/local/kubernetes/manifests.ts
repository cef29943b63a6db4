import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { patchType } from './api.ts';
import type { KubernetesApi, KubernetesObject } from './api.ts';

const FIELD_MANAGER = 'keelson-up';

/** A resource type as the API server's discovery describes it. */
interface ResourceType {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Every object in the YAML files of a directory below `deploy/`; none when there is no such directory. */
export function readManifests(directory: string): readonly KubernetesObject[] {
  const path = absolute(directory);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
    .sort((one, other) => one.localeCompare(other))
    .flatMap((name) => readManifest(`${directory}/${name}`));
}

/** Every object in a YAML file below `deploy/`. */
export function readManifest(file: string): readonly KubernetesObject[] {
  const documents = parseAllDocuments(readFileSync(absolute(file), 'utf8'));
  return documents.map((document) => toObject(document.toJS(), file));
}

/** Applies objects by server-side apply, so that applying them again changes nothing. */
export async function applyAll(api: KubernetesApi, objects: readonly KubernetesObject[]): Promise<void> {
  const types = new Map<string, readonly ResourceType[]>();
  for (const object of objects) {
    const path = await pathOf(api, types, object);
    const query = `fieldManager=${FIELD_MANAGER}&force=true`;
    await api.send('PATCH', `${path}?${query}`, object, patchType.apply);
  }
}

async function pathOf(
  api: KubernetesApi,
  known: Map<string, readonly ResourceType[]>,
  { apiVersion, kind, metadata }: KubernetesObject,
): Promise<string> {
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const types =
    known.get(base) ?? (await api.send<{ resources: readonly ResourceType[] }>('GET', base)).resources;
  known.set(base, types);
  const type = types.find((candidate) => candidate.kind === kind && !candidate.name.includes('/'));
  if (type === undefined) throw new Error(`the API server has no ${kind} in ${apiVersion}`);
  const namespace = type.namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : '';
  return `${base}${namespace}/${type.name}/${metadata.name}`;
}

function toObject(value: unknown, file: string): KubernetesObject {
  const name: unknown = Reflect.get(Object(Reflect.get(Object(value), 'metadata')), 'name');
  if (typeof name !== 'string') throw new Error(`${file} holds something that is no Kubernetes object`);
  return value as KubernetesObject;
}

function absolute(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
