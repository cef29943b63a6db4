import type { DownwardFile, KeyedData, KeyedSource, Pod, ProjectedSource, Volume } from '../api/objects.ts';
import type { ReferencedData } from '../pod/environment.ts';
import { ConfigurationError, readField, readResource } from '../pod/fields.ts';
import type { NodeFacts } from '../pod/fields.ts';

/** One file of a volume whose content comes from the API. */
export interface ProjectedFile {
  readonly path: string;
  readonly content: Buffer;
  readonly mode: number;
}

/** What the content of a volume is computed from. */
export interface ProjectionFacts {
  readonly pod: Pod;
  readonly node: NodeFacts;
  readonly data: ReferencedData;
  /** Tokens of the pod's service account, by audience (the default audience is the empty string). */
  readonly tokens: ReadonlyMap<string, string>;
}

/** The files of a ConfigMap, Secret, downward API or projected volume; undefined for any other kind. */
export function buildProjection(volume: Volume, facts: ProjectionFacts): ProjectedFile[] | undefined {
  if (volume.configMap !== undefined) return fromObject('configmap', volume.configMap, facts, 0o644);
  if (volume.secret !== undefined) {
    const source = { ...volume.secret, name: volume.secret.secretName ?? '' };
    return fromObject('secret', source, facts, 0o644);
  }
  if (volume.downwardAPI !== undefined) {
    return fromDownward(volume.downwardAPI.items, facts, volume.downwardAPI.defaultMode ?? 0o644);
  }
  const mode = volume.projected?.defaultMode ?? 0o644;
  return volume.projected?.sources?.flatMap((source) => fromSource(source, facts, mode));
}

function fromSource(source: ProjectedSource, facts: ProjectionFacts, mode: number): ProjectedFile[] {
  if (source.configMap !== undefined) return fromObject('configmap', source.configMap, facts, mode);
  if (source.secret !== undefined) return fromObject('secret', source.secret, facts, mode);
  if (source.downwardAPI !== undefined) return fromDownward(source.downwardAPI.items, facts, mode);
  if (source.serviceAccountToken === undefined) return [];
  const token = facts.tokens.get(source.serviceAccountToken.audience ?? '');
  if (token === undefined) throw new ConfigurationError('the service account token is not there');
  return [{ path: source.serviceAccountToken.path, content: Buffer.from(token), mode }];
}

function fromObject(
  kind: 'configmap' | 'secret',
  source: KeyedSource,
  facts: ProjectionFacts,
  inheritedMode: number,
): ProjectedFile[] {
  const name = source.name ?? '';
  const object = (kind === 'secret' ? facts.data.secrets : facts.data.configMaps).get(name);
  if (object === undefined) {
    if (source.optional === true) return [];
    throw new ConfigurationError(`${kind} "${name}" not found`);
  }
  const contents = decodeData(object, kind === 'secret');
  const mode = source.defaultMode ?? inheritedMode;
  const items = source.items ?? [...contents.keys()].map((key) => ({ key, path: key }));
  const files: ProjectedFile[] = [];
  for (const item of items) {
    const content = contents.get(item.key);
    if (content !== undefined) {
      files.push({ path: item.path, content, mode: ('mode' in item ? item.mode : undefined) ?? mode });
    } else if (source.optional !== true) {
      throw new ConfigurationError(`references non-existent ${kind} key: ${item.key}`);
    }
  }
  return files;
}

function decodeData(object: KeyedData, isSecret: boolean): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (const [key, value] of Object.entries(object.data ?? {})) {
    contents.set(key, Buffer.from(value, isSecret ? 'base64' : 'utf8'));
  }
  for (const [key, value] of Object.entries(object.binaryData ?? {})) {
    contents.set(key, Buffer.from(value, 'base64'));
  }
  return contents;
}

function fromDownward(
  items: readonly DownwardFile[] | undefined,
  facts: ProjectionFacts,
  mode: number,
): ProjectedFile[] {
  return (items ?? []).map((item) => {
    const value =
      item.resourceFieldRef === undefined
        ? readField(facts.pod, item.fieldRef?.fieldPath ?? '', facts.node)
        : readResource(facts.pod, undefined, item.resourceFieldRef, facts.node);
    return { path: item.path, content: Buffer.from(value), mode: item.mode ?? mode };
  });
}
