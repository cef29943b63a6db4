import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKubernetesActivities } from '../../../activities/kubernetes/activities.ts';
import type {
  KubernetesActivities,
  Manifest,
  ObjectIdentity,
  ObjectName,
} from '../../../activities/kubernetes/contract.ts';
import type { CustomObject, KubernetesObject } from '../../../activities/kubernetes/objects.ts';
import type { Condition } from '../../../workflows/shared/messages.ts';
import { identityOf, SPECIMEN, until, type KubernetesStage } from './stage.ts';

interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}
interface CoreEvent extends KubernetesObject {
  readonly reason: string;
  readonly count: number;
  readonly involvedObject: { readonly uid: string };
}

/** What every client of an API server, real or not, must let the activities do. */
export function kubernetesSuite(open: () => Promise<KubernetesStage>): void {
  describe('the activities of Kubernetes', () => {
    let stage: KubernetesStage;
    let activities: KubernetesActivities;
    let count = 0;
    beforeAll(async () => {
      stage = await open();
      activities = createKubernetesActivities(stage.client);
    });
    afterAll(() => stage.close());

    const fresh = (prefix: string): string => `${prefix}-${(count += 1)}`;
    const named = (kind: { apiVersion: string; kind: string }, name: string): ObjectName => ({
      ...kind,
      namespace: stage.namespace,
      name,
    });
    const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap' } as const;
    const configMap = (name: string, data: Record<string, string> = { a: '1' }): Manifest => ({
      ...CONFIG_MAP,
      metadata: { name, namespace: stage.namespace },
      data,
    });
    const read = (name: string): Promise<ConfigMap | null> =>
      stage.client.read<ConfigMap>(named(CONFIG_MAP, name));
    async function specimen(meta: object = {}): Promise<ObjectIdentity> {
      const name = named(SPECIMEN, fresh('specimen'));
      const body = {
        ...SPECIMEN,
        metadata: { name: name.name, namespace: name.namespace, ...meta },
        spec: { size: 1 },
      };
      return identityOf(name, await stage.client.create(name, body));
    }
    const readSpecimen = async (identity: ObjectIdentity): Promise<CustomObject> => {
      const found = await stage.client.read<CustomObject>(identity);
      if (found === null) throw new Error('the specimen is gone');
      return found;
    };
    const apply = (
      owner: ObjectIdentity & { generation?: number },
      objects: readonly Manifest[],
      known = {},
    ) => activities.applyKubernetesObjects({ owner, manager: 'keelson', objects, known });

    describe('applying', () => {
      test('creates what is missing, owned by the resource, and answers its uid', async () => {
        const owner = await specimen();
        const name = fresh('config');
        const { uids } = await apply(owner, [configMap(name)]);
        const made = await read(name);
        expect(uids).toEqual({ [`ConfigMap/${name}`]: made?.metadata.uid });
        expect(made?.metadata.ownerReferences).toMatchObject([
          { uid: owner.uid, controller: true, kind: 'Specimen' },
        ]);
      });

      test('again changes nothing, with the uid known or not', async () => {
        const owner = await specimen();
        const name = fresh('config');
        const { uids } = await apply(owner, [configMap(name)]);
        const before = await read(name);
        await apply(owner, [configMap(name)], uids);
        await apply(owner, [configMap(name)]);
        expect((await read(name))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
      });

      test('removes what is not intended any more, and forces what somebody else changed', async () => {
        const owner = await specimen();
        const name = fresh('config');
        await apply(owner, [configMap(name, { a: '1', b: '2' })]);
        await stage.client.patch(named(CONFIG_MAP, name), {
          type: 'merge',
          manager: 'somebody',
          body: { data: { a: '9' } },
        });
        await apply(owner, [configMap(name, { a: '1' })]);
        expect((await read(name))?.data).toEqual({ a: '1' });
      });

      test('does not resurrect what was deleted meanwhile', async () => {
        const owner = await specimen();
        const name = fresh('config');
        const { uids } = await apply(owner, [configMap(name)]);
        await stage.client.delete(named(CONFIG_MAP, name), {
          uid: Object.values(uids)[0] ?? '',
          foreground: false,
        });
        await expect(apply(owner, [configMap(name)], uids)).rejects.toMatchObject({
          type: 'ResourceReplaced',
          nonRetryable: true,
        });
        expect(await read(name)).toBeNull();
      });

      test('does not touch a successor of the same name', async () => {
        const owner = await specimen();
        const name = fresh('config');
        await apply(owner, [configMap(name, { a: 'successor' })]);
        const known = { [`ConfigMap/${name}`]: '00000000-0000-0000-0000-000000000000' };
        await expect(apply(owner, [configMap(name)], known)).rejects.toMatchObject({
          type: 'ResourceReplaced',
        });
        expect((await read(name))?.data).toEqual({ a: 'successor' });
      });

      test('refuses in words to take over an object of somebody else', async () => {
        const name = fresh('config');
        await stage.client.create(named(CONFIG_MAP, name), configMap(name, { users: 'own' }));
        await expect(apply(await specimen(), [configMap(name)])).rejects.toMatchObject({
          type: 'KubernetesInvalid',
          message: expect.stringContaining('belongs to nobody'),
        });
        expect((await read(name))?.data).toEqual({ users: 'own' });
      });

      test('refuses when the resource is gone, replaced, or at a newer generation, and creates nothing', async () => {
        const owner = await specimen();
        const name = fresh('config');
        await expect(apply({ ...owner, name: 'nobody' }, [configMap(name)])).rejects.toMatchObject({
          type: 'ResourceGone',
        });
        await expect(apply({ ...owner, uid: 'another' }, [configMap(name)])).rejects.toMatchObject({
          type: 'ResourceReplaced',
        });
        await stage.client.patch(owner, { type: 'merge', manager: 'user', body: { spec: { size: 2 } } });
        await expect(apply({ ...owner, generation: 1 }, [configMap(name)])).rejects.toMatchObject({
          type: 'GenerationMoved',
        });
        expect(await read(name)).toBeNull();
      });

      test('says which object the API server refuses, and that it has no such kind', async () => {
        const owner = await specimen();
        await expect(apply(owner, [configMap('Not_A_Name')])).rejects.toMatchObject({
          type: 'KubernetesInvalid',
          message: expect.stringContaining('Not_A_Name'),
        });
        await expect(
          apply(owner, [{ ...configMap(fresh('config')), apiVersion: 'nowhere.test/v1', kind: 'Nothing' }]),
        ).rejects.toMatchObject({
          type: 'KubernetesInvalid',
          message: expect.stringContaining('no kind Nothing in nowhere.test/v1'),
        });
      });
    });

    describe('deleting', () => {
      test('waits until the object is really gone', async () => {
        const name = named(CONFIG_MAP, fresh('config'));
        const held = {
          ...configMap(name.name),
          metadata: { name: name.name, namespace: name.namespace, finalizers: ['keelson.test/held'] },
        };
        const identity = identityOf(name, await stage.client.create(name, held));
        let over = false;
        const deletion = activities
          .deleteKubernetesObjects({ objects: [identity] })
          .finally(() => (over = true));
        await until(async () =>
          (await stage.client.read(name))?.metadata.deletionTimestamp === undefined ? null : true,
        );
        expect(over).toBe(false);
        await activities.removeKubernetesFinalizer({ resource: identity, finalizer: 'keelson.test/held' });
        expect(await deletion).toEqual({ deleted: 1 });
        expect(await stage.client.read(name)).toBeNull();
      });

      test('leaves an object of another uid alone, and one that is gone is success', async () => {
        const name = named(CONFIG_MAP, fresh('config'));
        await stage.client.create(name, configMap(name.name));
        const other = { ...name, uid: '00000000-0000-0000-0000-000000000000' };
        const gone = { ...named(CONFIG_MAP, fresh('config')), uid: other.uid };
        expect(await activities.deleteKubernetesObjects({ objects: [other, gone] })).toEqual({ deleted: 0 });
        expect(await stage.client.read(name)).not.toBeNull();
      });
    });

    describe('the status', () => {
      const ready = (over: Partial<Condition> = {}): Condition => ({
        type: 'Ready',
        status: 'True',
        reason: 'Healthy',
        message: 'all is well',
        observedGeneration: 1,
        ...over,
      });
      const conditionsOf = (object: CustomObject) =>
        (object.status?.['conditions'] ?? []) as unknown as (Condition & { lastTransitionTime: string })[];

      test('is written whole, and written again only when it changes', async () => {
        const resource = await specimen();
        const status = { phase: 'Running', nodes: 6, nothing: null };
        await activities.writeKubernetesStatus({ resource, status, conditions: [ready()] });
        const first = await readSpecimen(resource);
        expect(first.status).toMatchObject({ phase: 'Running', nodes: 6 });
        await activities.writeKubernetesStatus({ resource, status, conditions: [ready()] });
        expect((await readSpecimen(resource)).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
        await activities.writeKubernetesStatus({
          resource,
          status: { phase: 'Failed' },
          conditions: [ready()],
        });
        const { conditions: _, ...fields } = (await readSpecimen(resource)).status ?? {};
        expect(fields).toEqual({ phase: 'Failed' });
      });

      test('keeps the time of a condition whose status stays, and the conditions of others', async () => {
        const resource = await specimen();
        const old = '2020-01-01T00:00:00Z';
        const { apiVersion, kind, namespace, name } = resource;
        for (const [manager, type] of [
          ['keelson-status', 'Ready'],
          ['starter', 'Parked'],
        ] as const) {
          const conditions = [{ ...ready({ type }), lastTransitionTime: old }];
          const body = { apiVersion, kind, metadata: { namespace, name }, status: { conditions } };
          await stage.client.patch(resource, { type: 'apply', manager, subresource: 'status', body });
        }
        const changed = ready({ reason: 'Other', message: 'still well' });
        await activities.writeKubernetesStatus({ resource, status: {}, conditions: [changed] });
        const kept = conditionsOf(await readSpecimen(resource));
        expect(kept.find((one) => one.type === 'Ready')).toEqual({ ...changed, lastTransitionTime: old });
        expect(kept.find((one) => one.type === 'Parked')).toBeDefined();
        await activities.writeKubernetesStatus({
          resource,
          status: {},
          conditions: [ready({ status: 'False' })],
        });
        const moved = conditionsOf(await readSpecimen(resource)).find((one) => one.type === 'Ready');
        expect(moved?.lastTransitionTime).not.toBe(old);
      });

      test('of a resource that is gone, or another one by now, is not written', async () => {
        const resource = await specimen();
        const write = (identity: ObjectIdentity) =>
          activities.writeKubernetesStatus({ resource: identity, status: {}, conditions: [ready()] });
        await expect(write({ ...resource, uid: 'another' })).rejects.toMatchObject({
          type: 'ResourceReplaced',
        });
        await expect(write({ ...resource, name: 'nobody' })).rejects.toMatchObject({ type: 'ResourceGone' });
        expect((await readSpecimen(resource)).status).toBeUndefined();
      });
    });

    test('an event that repeats raises its count instead of adding another one', async () => {
      const resource = await specimen();
      const record = (message: string) =>
        activities.recordKubernetesEvent({
          resource,
          type: 'Normal',
          reason: 'Created',
          message,
          facts: { shards: 3 },
        });
      await record('3 shards are created');
      await record('3 shards are created');
      await record('4 shards are created');
      const { items } = await stage.client.list<CoreEvent>({
        apiVersion: 'v1',
        kind: 'Event',
        namespace: stage.namespace,
      });
      const ours = items.filter((event) => event.involvedObject.uid === resource.uid);
      expect(ours.map((event) => event.count).toSorted((a, b) => a - b)).toEqual([1, 2]);
    });

    test('a finalizer is removed alone, once, and never from a successor', async () => {
      const resource = await specimen({ finalizers: ['keelson.test/ours', 'keelson.test/theirs'] });
      const remove = (identity: ObjectIdentity) =>
        activities.removeKubernetesFinalizer({ resource: identity, finalizer: 'keelson.test/ours' });
      await remove({ ...resource, uid: 'another' });
      expect((await readSpecimen(resource)).metadata.finalizers).toHaveLength(2);
      await remove(resource);
      await remove(resource);
      expect((await readSpecimen(resource)).metadata.finalizers).toEqual(['keelson.test/theirs']);
      await activities.removeKubernetesFinalizer({ resource, finalizer: 'keelson.test/theirs' });
      await remove({ ...resource, name: 'nobody' });
    });
  });
}
