import type { Container, EnvVar, KeyedData, Pod } from '../api/objects.ts';
import { ConfigurationError, readField, readResource } from './fields.ts';
import type { NodeFacts } from './fields.ts';

/** The ConfigMaps and Secrets that a pod refers to, by name; one that does not exist is absent. */
export interface ReferencedData {
  readonly configMaps: ReadonlyMap<string, KeyedData>;
  readonly secrets: ReadonlyMap<string, KeyedData>;
}

/** Replaces `$(NAME)` by the variable's value; `$$(NAME)` stands for itself, an unknown name stays as it is. */
export function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) => {
    if (whole === '$$') return '$';
    return variables.get(name ?? '') ?? whole;
  });
}

/** The environment that a container's spec asks for; throws a `ConfigurationError` when something is missing. */
export function buildEnvironment(
  pod: Pod,
  container: Container,
  facts: NodeFacts,
  data: ReferencedData,
): Map<string, string> {
  const variables = new Map<string, string>();
  for (const source of container.envFrom ?? []) {
    const isSecret = source.secretRef !== undefined;
    const ref = source.configMapRef ?? source.secretRef;
    const object = findData(data, isSecret, ref?.name ?? '', ref?.optional ?? false);
    for (const [key, value] of Object.entries(object?.data ?? {})) {
      variables.set(`${source.prefix ?? ''}${key}`, isSecret ? decode(value) : value);
    }
  }
  for (const variable of container.env ?? []) {
    const value = resolveVariable(pod, container, variable, facts, data, variables);
    if (value !== undefined) variables.set(variable.name, value);
  }
  return variables;
}

function resolveVariable(
  pod: Pod,
  container: Container,
  variable: EnvVar,
  facts: NodeFacts,
  data: ReferencedData,
  variables: ReadonlyMap<string, string>,
): string | undefined {
  const from = variable.valueFrom;
  if (from?.fieldRef !== undefined) return readField(pod, from.fieldRef.fieldPath, facts);
  if (from?.resourceFieldRef !== undefined) return readResource(pod, container, from.resourceFieldRef, facts);
  const ref = from?.configMapKeyRef ?? from?.secretKeyRef;
  if (ref === undefined) return expand(variable.value ?? '', variables);
  const isSecret = from?.secretKeyRef !== undefined;
  const optional = ref.optional ?? false;
  const object = findData(data, isSecret, ref.name ?? '', optional);
  const value = object?.data?.[ref.key];
  if (value !== undefined) return isSecret ? decode(value) : value;
  if (optional) return undefined;
  const kind = isSecret ? 'Secret' : 'ConfigMap';
  throw new ConfigurationError(
    `couldn't find key ${ref.key} in ${kind} ${pod.metadata.namespace}/${ref.name ?? ''}`,
  );
}

function findData(
  data: ReferencedData,
  isSecret: boolean,
  name: string,
  optional: boolean,
): KeyedData | undefined {
  const object = (isSecret ? data.secrets : data.configMaps).get(name);
  if (object === undefined && !optional) {
    throw new ConfigurationError(`${isSecret ? 'secret' : 'configmap'} "${name}" not found`);
  }
  return object;
}

function decode(value: string): string {
  return Buffer.from(value, 'base64').toString();
}
