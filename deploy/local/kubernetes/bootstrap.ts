import { pathOf } from '../home.ts';
import type { Component, Home } from '../home.ts';
import { KubernetesApi } from './api.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import type { Access } from './kubeconfig.ts';
import { applyAll, readManifests } from './manifests.ts';

/** The namespace of the ServiceAccounts that Keelson itself runs under. */
const SYSTEM_NAMESPACE = 'keelson-system';
/** Where the API server is, and how it is known to be it. */
type Endpoint = Pick<Access, 'server' | 'caFile'>;

const TOKEN_SECONDS = 365 * 24 * 3600;

/** Those who act with a token of their own ServiceAccount, and nothing but its rights. */
const ACCOUNTS: readonly Component[] = ['nodes', 'provisioner', 'worker', 'starter'];

/** Gives an empty API server all that the stack relies on: rights, storage classes, resource types, tokens. */
export async function bootstrapKubernetes(home: Home, endpoint: Endpoint): Promise<void> {
  const api = new KubernetesApi(pathOf.kubeconfig(home, 'admin'));
  try {
    await applyAll(api, readManifests('kustomize/base'));
    await applyAll(api, readManifests('kustomize/local'));
    await applyAll(api, readManifests('crds'));
    for (const component of ACCOUNTS) await writeAccountKubeconfig(api, home, endpoint, component);
  } finally {
    api.close();
  }
}

async function writeAccountKubeconfig(
  api: KubernetesApi,
  home: Home,
  endpoint: Endpoint,
  component: Component,
): Promise<void> {
  const account = `keelson-${component}`;
  const { status } = await api.send<{ status: { token: string } }>(
    'POST',
    `/api/v1/namespaces/${SYSTEM_NAMESPACE}/serviceaccounts/${account}/token`,
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: TOKEN_SECONDS },
    },
  );
  const access = { ...endpoint, token: status.token, user: account };
  writeKubeconfig(pathOf.kubeconfig(home, component), access);
}
