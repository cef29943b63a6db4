import { KubeConfig } from '@kubernetes/client-node';
import { useStack } from '../../../deploy/local/testing.ts';

/** The real servers that the tests use. */
export async function readServers(): Promise<{
  readonly kubeConfig: KubeConfig;
  readonly kubeconfigFile: string;
  readonly temporalAddress: string;
}> {
  const stack = await useStack();
  const kubeconfigFile = stack.kubeconfig('admin');
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(kubeconfigFile);
  return { kubeConfig, kubeconfigFile, temporalAddress: stack.temporalAddress };
}
