import type { ObjectName } from './contract.ts';
import { isNotFound, KubernetesError } from './errors.ts';

interface ResourceList {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}
type Resource = ResourceList['resources'][number];
/** What the API server takes for names; a path that holds another one would lead somewhere else. */
const NAMES = {
  namespace: { pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, longest: 63 },
  name: { pattern: /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, longest: 253 },
} as const;
const API_VERSION = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?v[a-z0-9]{1,62}$/;
type Kind = { readonly apiVersion: string; readonly kind: string; readonly namespace?: string };

/** Where the API server keeps objects, learnt from its own discovery once for each version. */
export interface Paths {
  kind(kind: Kind): Promise<string>;
  object(name: ObjectName): Promise<string>;
  has(apiVersion: string, kind: string): Promise<boolean>;
}

/** A kind that is not found is asked for again each time: its definition may be installed at any moment. */
export function createPaths(read: (path: string) => Promise<ResourceList>): Paths {
  const known = new Map<string, Resource>();

  async function find(apiVersion: string, kind: string): Promise<Resource | null> {
    const key = `${apiVersion} ${kind}`;
    const cached = known.get(key);
    if (cached !== undefined) return cached;
    let list: ResourceList;
    try {
      list = await read(rootOf(apiVersion));
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
    for (const resource of list.resources)
      if (!resource.name.includes('/')) known.set(`${apiVersion} ${resource.kind}`, resource);
    return known.get(key) ?? null;
  }

  async function pathOf(asked: Kind): Promise<string> {
    const resource = await find(asked.apiVersion, asked.kind);
    if (resource === null) {
      const message = `the API server has no kind ${asked.kind} in ${asked.apiVersion}: is its definition installed?`;
      throw new KubernetesError(400, 'UnknownKind', message, `GET ${rootOf(asked.apiVersion)}`);
    }
    const namespace =
      resource.namespaced && asked.namespace !== undefined && asked.namespace !== ''
        ? `/namespaces/${segmentOf('namespace', asked.namespace, asked.kind)}`
        : '';
    return `${rootOf(asked.apiVersion)}${namespace}/${resource.name}`;
  }

  return {
    kind: pathOf,
    object: async (name) => {
      const segment = segmentOf('name', name.name, name.kind);
      return `${await pathOf(name)}/${segment}`;
    },
    has: async (apiVersion, kind) => (await find(apiVersion, kind)) !== null,
  };
}

/** A group may come from a resource, such as that of an issuer. */
function rootOf(apiVersion: string): string {
  if (!API_VERSION.test(apiVersion)) {
    const message = `"${apiVersion.slice(0, 80)}" cannot be the version of an API`;
    throw new KubernetesError(400, 'InvalidName', message, 'nothing was asked');
  }
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

/** A part of a path, which is a name or nothing: `..`, a slash or an empty text would ask for another object, or for all. */
function segmentOf(what: keyof typeof NAMES, text: string, kind: string): string {
  const { pattern, longest } = NAMES[what];
  if (text.length <= longest && pattern.test(text)) return text;
  const shown = text.length <= longest ? text : `${text.slice(0, 40)}… (${text.length} characters)`;
  const message = `"${shown}" cannot be the ${what} of a ${kind}`;
  throw new KubernetesError(400, 'InvalidName', message, 'nothing was asked');
}
