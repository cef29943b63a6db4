import { failure } from '../../workflows/shared/failures.ts';
import type { KubernetesClient } from './client.ts';
import type { KubernetesActivities, Manifest, ObjectIdentity, ObjectName } from './contract.ts';
import { isNotFound, KubernetesError } from './errors.ts';
import { runsPods, type KubernetesObject } from './objects.ts';
import { readIdentity } from './owner.ts';

type Input = Parameters<KubernetesActivities['applyKubernetesObjects']>[0];

/** Applies each object with the full intent of the manager; repeated, it changes nothing. */
export async function applyObjects(
  client: KubernetesClient,
  { owner, manager, objects, known }: Input,
): Promise<{ readonly uids: Record<string, string> }> {
  await readIdentity(client, owner);
  const uids: Record<string, string> = {};
  const applyAll = (some: readonly Manifest[]): Promise<unknown> =>
    Promise.all(
      some.map(async (manifest) => {
        const key = keyOf(manifest);
        uids[key] = await applyObject(client, { owner, manager, manifest, uid: known[key] ?? null });
      }),
    );
  // What runs pods comes last, so that its pods find their configuration.
  await applyAll(objects.filter((object) => !runsPods(object.kind)));
  await applyAll(objects.filter((object) => runsPods(object.kind)));
  return { uids };
}

async function applyObject(
  client: KubernetesClient,
  {
    owner,
    manager,
    manifest,
    uid,
  }: { owner: ObjectIdentity; manager: string; manifest: Manifest; uid: string | null },
): Promise<string> {
  const name: ObjectName = { apiVersion: manifest.apiVersion, kind: manifest.kind, ...manifest.metadata };
  const fence = uid ?? (await findOwn(client, name, owner));
  const body = {
    ...manifest,
    metadata: {
      ...manifest.metadata,
      ...(fence === null ? {} : { uid: fence }),
      ownerReferences: [ownerReference(owner)],
    },
  };
  try {
    const applied = await client.patch<KubernetesObject>(name, { type: 'apply', body, manager });
    return applied.metadata.uid;
  } catch (error) {
    throw fence === null ? error : asStale(error, name);
  }
}

/** The uid of the object when it exists already and is ours; an object of somebody else is never taken over. */
async function findOwn(
  client: KubernetesClient,
  name: ObjectName,
  owner: ObjectIdentity,
): Promise<string | null> {
  const found = await client.read(name);
  if (found === null) return null;
  const words = `${name.kind} ${name.namespace}/${name.name}`;
  const holder = found.metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (holder?.uid !== owner.uid) {
    const whose = holder === undefined ? 'nobody' : `${holder.kind} ${holder.name} (uid ${holder.uid})`;
    if (found.metadata.deletionTimestamp === undefined)
      throw failure(
        'KubernetesInvalid',
        `${words} exists already and belongs to ${whose}: delete or rename it`,
      );
  }
  if (found.metadata.deletionTimestamp !== undefined)
    throw failure('KubernetesConflict', `${words} of an earlier time is still being deleted`);
  return found.metadata.uid;
}

/** With a uid in the body, the API server refuses to create or to touch any other object. */
function asStale(error: unknown, name: ObjectName): unknown {
  const words = `${name.kind} ${name.namespace}/${name.name}`;
  if (isNotFound(error)) return failure('ResourceGone', `${words} is gone`);
  if (
    error instanceof KubernetesError &&
    (error.code === 409 || error.code === 422) &&
    /\buid\b/.test(error.message)
  )
    return failure('ResourceReplaced', `${words} is gone or another one now: ${error.message}`);
  return error;
}

const ownerReference = (owner: ObjectIdentity): object => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.name,
  uid: owner.uid,
  controller: true,
  blockOwnerDeletion: true,
});

const keyOf = (manifest: Manifest): string => `${manifest.kind}/${manifest.metadata.name}`;
