import { KubeConfig } from '@kubernetes/client-node';
import { KubernetesApi } from '../kubernetes-api.ts';
import { KubernetesRefusal } from '../kubernetes-refusal.ts';
import { CliError } from './cli-error.ts';
import { withLocalStack } from './local-stack.ts';

/** Runs a command's work against the user's own Kubernetes, or the embedded one, and says in words when there is none. */
export async function withKubernetes<T>(work: (api: KubernetesApi) => Promise<T>): Promise<T> {
  const config = await loadConfig();
  try {
    return await work(new KubernetesApi(config));
  } catch (error) {
    throw explainRequest(error, config.getCurrentCluster()?.server ?? 'nowhere');
  }
}

async function loadConfig(): Promise<KubeConfig> {
  const { KUBECONFIG } = await withLocalStack(process.env);
  // The client library reads the variable itself, a list of files included.
  if (KUBECONFIG !== undefined) process.env['KUBECONFIG'] = KUBECONFIG;
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(`the kubeconfig cannot be used: ${why}`, {
      remedy: 'Check KUBECONFIG and ~/.kube/config.',
      exitCode: 2,
      cause: error,
    });
  }
  return config;
}

/** What an error of a request means to a person; what the command itself has said is left as it is. */
function explainRequest(error: unknown, server: string): unknown {
  if (error instanceof CliError) return error;
  if (error instanceof KubernetesRefusal)
    return new CliError(`Kubernetes at ${server} refuses: ${error.message}`, {
      remedy: 'Check the current context of your kubeconfig, and what it may do.',
      cause: error,
    });
  const unreached =
    error instanceof Error &&
    (error.name === 'TypeError' || error.name === 'FetchError' || error.name === 'TimeoutError');
  if (!unreached) return error;
  return new CliError(`there is no Kubernetes at ${server}`, {
    remedy: 'Start the embedded stack with "keelson up", or set KUBECONFIG to the kubeconfig of yours.',
    cause: error,
  });
}
