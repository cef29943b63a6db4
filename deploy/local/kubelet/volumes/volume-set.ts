import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Pod, Volume } from '../api/objects.ts';
import type { NodeContext } from '../node/context.ts';
import { ConfigurationError } from '../pod/fields.ts';
import type { NodeFacts } from '../pod/fields.ts';
import { listVolumeReferences } from '../pod/references.ts';
import { writeAtomicDirectory } from './atomic-directory.ts';
import { readClaimPath } from './claims.ts';
import { buildProjection } from './projection.ts';
import { readReferencedData } from './references.ts';
import { TokenSource } from './tokens.ts';

/** Where a volume is on the machine. */
export interface VolumePlace {
  readonly path: string;
  readonly readOnly: boolean;
}

/** The volumes of one pod. */
export class VolumeSet {
  private readonly context: NodeContext;
  private readonly directory: string;
  private readonly tokens: TokenSource;
  private places = new Map<string, VolumePlace>();

  constructor(context: NodeContext, directory: string) {
    this.context = context;
    this.directory = directory;
    this.tokens = new TokenSource(context.api);
  }

  /** Where a volume is; undefined until the volumes were mounted. */
  place(name: string): VolumePlace | undefined {
    return this.places.get(name);
  }

  /** When the content must be looked at again even if nothing changed; undefined for never. */
  get refreshAtMs(): number | undefined {
    return this.tokens.refreshAtMs;
  }

  /** Makes all volumes, or brings their content up to date. Safe to repeat. Throws in words when something is missing. */
  async mount(pod: Pod, facts: NodeFacts): Promise<void> {
    const volumes = pod.spec.volumes ?? [];
    const [data, tokens] = await Promise.all([
      readReferencedData(this.context.api, pod.metadata.namespace, listVolumeReferences(pod)),
      this.tokens.read(pod),
    ]);
    const places = new Map<string, VolumePlace>();
    for (const volume of volumes) {
      const files = this.attempt(volume, () => buildProjection(volume, { pod, node: facts, data, tokens }));
      const path = join(this.directory, volume.name);
      if (files === undefined) places.set(volume.name, await this.locate(volume, pod, path));
      else {
        writeAtomicDirectory(path, files);
        places.set(volume.name, { path, readOnly: true });
      }
    }
    this.places = places;
  }

  private attempt<T>(volume: Volume, build: () => T): T {
    try {
      return build();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      throw new ConfigurationError(`MountVolume.SetUp failed for volume "${volume.name}" : ${error.message}`);
    }
  }

  private async locate(volume: Volume, pod: Pod, own: string): Promise<VolumePlace> {
    if (volume.emptyDir !== undefined) {
      mkdirSync(own, { recursive: true });
      chmodSync(own, 0o777);
      return { path: own, readOnly: false };
    }
    if (volume.hostPath !== undefined) return { path: prepareHostPath(volume), readOnly: false };
    const claim = volume.persistentVolumeClaim;
    if (claim === undefined)
      throw new ConfigurationError(`volume "${volume.name}" is of a kind that this node does not know`);
    const path = await readClaimPath(this.context.api, pod.metadata.namespace, claim.claimName);
    mkdirSync(path, { recursive: true });
    return { path, readOnly: claim.readOnly === true };
  }
}

function prepareHostPath(volume: Volume): string {
  const { path, type = '' } = volume.hostPath ?? { path: '/' };
  const found = statSync(path, { throwIfNoEntry: false });
  const isWrong =
    (type === 'Directory' && found?.isDirectory() !== true) ||
    (type === 'File' && found?.isFile() !== true) ||
    (type === 'Socket' && found?.isSocket() !== true);
  if (isWrong)
    throw new ConfigurationError(`hostPath type check failed: ${path} is not a ${type.toLowerCase()}`);
  if (type === 'FileOrCreate' && !existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '');
  } else if (found === undefined) mkdirSync(path, { recursive: true });
  return path;
}
