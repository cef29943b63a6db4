import { randomUUID } from 'node:crypto';
import { vi } from 'vitest';
import { APPLY_PATCH } from '../../../starter/kubernetes-api.ts';
import { isRefusal } from '../../../starter/kubernetes-refusal.ts';
import type { KubernetesApi } from '../../../starter/kubernetes-api.ts';
import { fieldOf, labelOf, textOf } from '../../../starter/object-field.ts';
import { resourcePath } from '../../../starter/watch-definition.ts';
import type { LifecycleWatch } from '../../../starter/watch-definition.ts';

const GROUP = 'test.keelson.dev';
const LAMP = { group: GROUP, version: 'v1', plural: 'lamps', kind: 'Lamp' } as const;
const WISH = { group: GROUP, version: 'v1', plural: 'lampwishes', kind: 'LampWish' } as const;
const BULB_LABEL = `${GROUP}/lamp`;
const BULBS = { group: '', version: 'v1', plural: 'configmaps' } as const;

/** A lifecycle that exists in tests only: a Lamp, with ConfigMaps as its parts. */
export const lampWatch: LifecycleWatch = {
  lifecycle: 'lamp',
  workflowType: 'lamp',
  primary: LAMP,
  secondaries: [
    {
      ...WISH,
      is: 'wish',
      owner: (object) => {
        const namespace = textOf(fieldOf(object, 'metadata'), 'namespace');
        const name = textOf(fieldOf(object, 'spec'), 'lamp');
        return namespace === null || name === null ? null : { namespace, name };
      },
    },
    {
      ...BULBS,
      kind: 'ConfigMap',
      is: 'part',
      labelSelector: BULB_LABEL,
      owner: (object) => {
        const namespace = textOf(fieldOf(object, 'metadata'), 'namespace');
        const name = labelOf(object, BULB_LABEL);
        return namespace === null || name === null ? null : { namespace, name };
      },
    },
  ],
  refuse: (object) =>
    fieldOf(fieldOf(object, 'spec'), 'colour') === 'infrared'
      ? 'spec.colour is infrared, which nobody can see: choose another colour.'
      : null,
};

const anyObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;

const buildCrd = ({ plural, kind }: { readonly plural: string; readonly kind: string }) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural, singular: kind.toLowerCase(), kind },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: anyObject,
              status: {
                ...anyObject,
                properties: {
                  conditions: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                    items: {
                      ...anyObject,
                      required: ['type', 'status', 'lastTransitionTime'],
                      properties: {
                        type: { type: 'string' },
                        status: { type: 'string' },
                        lastTransitionTime: { type: 'string', format: 'date-time' },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
});

/** The Lamps of one namespace, as a user and as their workflow would handle them. */
export class Lamps {
  readonly namespace: string;
  readonly #api: KubernetesApi;

  private constructor(api: KubernetesApi, namespace: string) {
    this.#api = api;
    this.namespace = namespace;
  }

  /** Makes the resource type known and a namespace of its own. */
  static async open(api: KubernetesApi): Promise<Lamps> {
    for (const type of [LAMP, WISH])
      await api.request(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${type.plural}.${GROUP}`, {
        method: 'PATCH',
        contentType: APPLY_PATCH,
        query: { fieldManager: 'test', force: 'true' },
        body: buildCrd(type),
      });
    const namespace = `lamps-${randomUUID().slice(0, 8)}`;
    await api.request('/api/v1/namespaces', { method: 'POST', body: { metadata: { name: namespace } } });
    const lamps = new Lamps(api, namespace);
    await vi.waitUntil(() => lamps.#serves(), { timeout: 30_000 });
    return lamps;
  }

  async create(name: string, spec: object = { colour: 'red' }): Promise<{ uid: string }> {
    const body = { apiVersion: `${GROUP}/v1`, kind: 'Lamp', metadata: { name }, spec };
    const path = resourcePath(LAMP, { namespace: this.namespace });
    const created = await this.#api.request(path, { method: 'POST', body });
    return { uid: textOf(fieldOf(created, 'metadata'), 'uid') ?? '' };
  }

  /** Reads one, or null when there is none. */
  async read(name: string): Promise<unknown> {
    try {
      return await this.#api.request(this.#path(name));
    } catch (error) {
      if (isRefusal(error, 404)) return null;
      throw error;
    }
  }

  async merge(name: string, patch: object): Promise<void> {
    await this.#merge(this.#path(name), patch);
  }

  /** Writes the status, as the workflow would. */
  async mergeStatus(name: string, status: object): Promise<void> {
    await this.#merge(`${this.#path(name)}/status`, { status });
  }

  async delete(name: string): Promise<void> {
    await this.#api.request(this.#path(name), { method: 'DELETE' });
  }

  /** Lets the API server remove one at once. */
  async deleteWithoutFinalizer(name: string): Promise<void> {
    await this.merge(name, { metadata: { finalizers: null } });
    // One that was being deleted already is gone with its last finalizer.
    if ((await this.read(name)) !== null) await this.delete(name);
  }

  async createWish(name: string, lamp: string): Promise<void> {
    const body = { apiVersion: `${GROUP}/v1`, kind: 'LampWish', metadata: { name }, spec: { lamp } };
    await this.#api.request(resourcePath(WISH, { namespace: this.namespace }), { method: 'POST', body });
  }

  async wishCondition(name: string): Promise<Readonly<Record<string, unknown>> | null> {
    return conditionOf(
      await this.#api.request(resourcePath(WISH, { namespace: this.namespace, name })),
      'Accepted',
    );
  }

  /** Creates or changes a part. */
  async touchBulb(lamp: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    const path = resourcePath(BULBS, { namespace: this.namespace, name: `${lamp}-bulb` });
    await this.#api.request(path, {
      method: 'PATCH',
      contentType: APPLY_PATCH,
      query: { fieldManager: 'test', force: 'true' },
      body: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `${lamp}-bulb`, labels: { [BULB_LABEL]: lamp, ...labels } },
      },
    });
  }

  async condition(name: string, type: string): Promise<Readonly<Record<string, unknown>> | null> {
    return conditionOf(await this.read(name), type);
  }

  /** The reasons of the Events on one. */
  async events(name: string): Promise<readonly string[]> {
    const list = await this.#api.request(
      resourcePath({ ...BULBS, plural: 'events' }, { namespace: this.namespace }),
      {
        query: { fieldSelector: `involvedObject.name=${name}` },
      },
    );
    const items = fieldOf(list, 'items');
    return Array.isArray(items) ? items.map((one) => String(fieldOf(one, 'reason'))) : [];
  }

  async removeAll(): Promise<void> {
    const list = await this.#api.request(resourcePath(LAMP, { namespace: this.namespace }));
    const items = fieldOf(list, 'items');
    for (const item of Array.isArray(items) ? items : [])
      await this.deleteWithoutFinalizer(String(fieldOf(fieldOf(item, 'metadata'), 'name')));
    for (const type of [BULBS, WISH])
      await this.#api.request(resourcePath(type, { namespace: this.namespace }), { method: 'DELETE' });
    await this.#api.request(`/api/v1/namespaces/${this.namespace}`, { method: 'DELETE' });
  }

  async #merge(path: string, patch: object): Promise<void> {
    await this.#api.request(path, {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: patch,
    });
  }

  async #serves(): Promise<boolean> {
    try {
      for (const type of [LAMP, WISH])
        await this.#api.request(resourcePath(type, { namespace: this.namespace }));
      return true;
    } catch (error) {
      // Until the type is established it is unknown, then its storage is being prepared.
      if (isRefusal(error, 404, 429, 503)) return false;
      throw error;
    }
  }

  #path(name: string): string {
    return resourcePath(LAMP, { namespace: this.namespace, name });
  }
}

function conditionOf(object: unknown, type: string): Readonly<Record<string, unknown>> | null {
  const conditions = fieldOf(fieldOf(object, 'status'), 'conditions');
  const list: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  const found = list.find((one) => fieldOf(one, 'type') === type);
  return found === undefined ? null : { ...Object(found) };
}
