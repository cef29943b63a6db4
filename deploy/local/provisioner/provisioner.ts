import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '../kubernetes/api.ts';
import type { KubernetesApi } from '../kubernetes/api.ts';
import { buildVolume, needsVolume, PROVISIONED_BY, PROVISIONER } from './volume.ts';
import type { Claim, Node, StorageClass, Volume } from './volume.ts';

/** Makes a directory and a volume for each claim that waits for one, and removes both when the claim is gone. */
export class Provisioner {
  readonly #api: KubernetesApi;
  readonly #directory: string;
  readonly #note: (text: string) => void;

  constructor(api: KubernetesApi, directory: string, note: (text: string) => void) {
    this.#api = api;
    this.#directory = directory;
    this.#note = note;
  }

  /** Does all that there is to do now; doing it again does nothing. */
  async reconcile(): Promise<void> {
    const classes = await this.#list<StorageClass>('/apis/storage.k8s.io/v1/storageclasses');
    const claims = await this.#list<Claim>('/api/v1/persistentvolumeclaims');
    const volumes = await this.#list<Volume>('/api/v1/persistentvolumes');
    for (const claim of claims) {
      const found = classes.find(({ metadata }) => metadata.name === claim.spec.storageClassName);
      if (found !== undefined && needsVolume(claim, found)) await this.#provision(claim, found);
    }
    for (const volume of volumes) if (isReleased(volume)) await this.#remove(volume);
  }

  async #provision(claim: Claim, storageClass: StorageClass): Promise<void> {
    const nodes = await this.#list<Node>('/api/v1/nodes');
    const volume = buildVolume(claim, storageClass, nodes, this.#directory);
    const path = join(this.#directory, volume.metadata.name);
    mkdirSync(path, { recursive: true });
    // Pods run under users of their own choice, as with any fresh volume.
    chmodSync(path, 0o777);
    try {
      await this.#api.send('POST', '/api/v1/persistentvolumes', volume);
      this.#note(`made ${volume.metadata.name} for ${claim.metadata.namespace}/${claim.metadata.name}`);
    } catch (error) {
      // It is there already, and the claim is about to be bound to it.
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
  }

  async #remove(volume: Volume): Promise<void> {
    // The path follows from the name, so that no volume object can make this remove anything else.
    rmSync(join(this.#directory, volume.metadata.name), { recursive: true, force: true });
    try {
      await this.#api.send('DELETE', `/api/v1/persistentvolumes/${volume.metadata.name}`);
      this.#note(`removed ${volume.metadata.name}`);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
  }

  async #list<T>(path: string): Promise<readonly T[]> {
    return (await this.#api.send<{ items: readonly T[] }>('GET', path)).items;
  }
}

function isReleased({ metadata, spec, status }: Volume): boolean {
  const ours =
    metadata.annotations?.[PROVISIONED_BY] === PROVISIONER && /^pvc-[0-9a-f-]+$/.test(metadata.name);
  const due = status?.phase === 'Released' && spec.persistentVolumeReclaimPolicy === 'Delete';
  return ours && due && metadata.deletionTimestamp === undefined;
}
