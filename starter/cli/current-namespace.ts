import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fieldOf, textOf } from '../object-field.ts';
import { badInput } from './cli-error.ts';
import { withLocalStack } from './local-stack.ts';

/** Where a pod finds the namespace that it runs in. */
const OF_THE_POD = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** The namespace that kubectl would use without `-n`: that of the current context, of the pod that we run in, or `default`. */
export async function readCurrentNamespace(): Promise<string> {
  const { KUBECONFIG, HOME } = await withLocalStack(process.env);
  const said = (KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  const paths = said.length > 0 ? said : [join(HOME ?? homedir(), '.kube', 'config')];
  // Like kubectl, which takes a list of files of which some may be missing.
  const files = paths.filter((path) => existsSync(path));
  if (files.length === 0 && existsSync(OF_THE_POD)) return readFileSync(OF_THE_POD, 'utf8').trim();
  return selectNamespace(await Promise.all(files.map(readConfig)));
}

/** The namespace of the current context in these kubeconfigs; what an earlier one says, a later one does not change. */
export function selectNamespace(configs: readonly unknown[]): string {
  const current = configs
    .map((config) => textOf(config, 'current-context'))
    .find((name) => name !== null && name !== '');
  for (const config of configs) {
    const contexts = fieldOf(config, 'contexts');
    if (!Array.isArray(contexts)) continue;
    const context: unknown = contexts.find((one) => textOf(one, 'name') === current);
    if (context !== undefined) return textOf(fieldOf(context, 'context'), 'namespace') || 'default';
  }
  return 'default';
}

async function readConfig(path: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw badInput(`the kubeconfig ${path} cannot be read: ${why}`, 'Mend it, or say the namespace with -n.');
  }
}
