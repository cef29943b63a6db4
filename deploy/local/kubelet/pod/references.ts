import type { Container, Pod, Volume } from '../api/objects.ts';

/** The names of the ConfigMaps and Secrets that something refers to. */
export interface References {
  readonly configMaps: ReadonlySet<string>;
  readonly secrets: ReadonlySet<string>;
}

/** What the environment of a container refers to. */
export function listEnvironmentReferences(container: Container): References {
  const configMaps = new Set<string>();
  const secrets = new Set<string>();
  for (const { configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef?.name !== undefined) configMaps.add(configMapRef.name);
    if (secretRef?.name !== undefined) secrets.add(secretRef.name);
  }
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.configMapKeyRef?.name !== undefined) configMaps.add(valueFrom.configMapKeyRef.name);
    if (valueFrom?.secretKeyRef?.name !== undefined) secrets.add(valueFrom.secretKeyRef.name);
  }
  return { configMaps, secrets };
}

/** What the volumes of a pod refer to. */
export function listVolumeReferences(pod: Pod): References {
  const configMaps = new Set<string>();
  const secrets = new Set<string>();
  for (const volume of pod.spec.volumes ?? []) collectVolume(volume, configMaps, secrets);
  return { configMaps, secrets };
}

function collectVolume(volume: Volume, configMaps: Set<string>, secrets: Set<string>): void {
  if (volume.configMap?.name !== undefined) configMaps.add(volume.configMap.name);
  if (volume.secret?.secretName !== undefined) secrets.add(volume.secret.secretName);
  for (const { configMap, secret } of volume.projected?.sources ?? []) {
    if (configMap?.name !== undefined) configMaps.add(configMap.name);
    if (secret?.name !== undefined) secrets.add(secret.name);
  }
}
