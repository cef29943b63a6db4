import { stringify } from 'yaml';
import { writeWhole } from '../files.ts';

/** How somebody reaches the API server, and as whom. */
export interface Access {
  readonly server: string;
  readonly caFile: string;
  readonly token: string;
  readonly user: string;
}

/** Writes a kubeconfig that only its owner may read. */
export function writeKubeconfig(file: string, access: Access): void {
  writeWhole(
    file,
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'keelson', cluster: { server: access.server, 'certificate-authority': access.caFile } },
      ],
      users: [{ name: access.user, user: { token: access.token } }],
      contexts: [
        { name: 'keelson', context: { cluster: 'keelson', user: access.user, namespace: 'default' } },
      ],
      'current-context': 'keelson',
    }),
  );
}
