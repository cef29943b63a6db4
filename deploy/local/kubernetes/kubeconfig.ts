import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
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

/** How to reach the API server, and as whom. */
export interface Connection {
  readonly server: URL;
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly token: string | undefined;
  readonly insecure: boolean;
}

interface Named<Kind extends string, Value> {
  readonly name: string;
  readonly [kind: string]: Value | string | undefined;
  readonly kind?: Kind;
}

interface Kubeconfig {
  readonly 'current-context'?: string;
  readonly contexts?: readonly Named<'context', Fields>[];
  readonly clusters?: readonly Named<'cluster', Fields>[];
  readonly users?: readonly Named<'user', Fields>[];
}

type Fields = Readonly<Record<string, string | boolean | undefined>>;

/** Reads the current context of a kubeconfig file; certificates may be inline or in files beside it. */
export function readKubeconfig(path: string): Connection {
  const config = parse(readFileSync(path, 'utf8')) as Kubeconfig;
  const context = select(config.contexts, 'context', config['current-context'], path);
  const cluster = select(config.clusters, 'cluster', text(context['cluster']), path);
  const user = select(config.users, 'user', text(context['user']), path);
  const server = text(cluster['server']);
  if (server === undefined) throw new Error(`${path}: the cluster has no server; write it as a kubeconfig`);
  return {
    server: new URL(server),
    ca: inlineOrFile(cluster, 'certificate-authority', path),
    cert: inlineOrFile(user, 'client-certificate', path),
    key: inlineOrFile(user, 'client-key', path),
    token: text(user['token']) ?? readTokenFile(user, path),
    insecure: cluster['insecure-skip-tls-verify'] === true,
  };
}

function select(
  entries: readonly Named<string, Fields>[] | undefined,
  kind: string,
  name: string | undefined,
  path: string,
): Fields {
  const value = entries?.find((entry) => entry.name === name)?.[kind];
  if (value === undefined || typeof value === 'string') {
    throw new Error(`${path}: there is no ${kind} named ${JSON.stringify(name)}`);
  }
  return value;
}

function text(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function inlineOrFile(fields: Fields, key: string, path: string): string | undefined {
  const inline = text(fields[`${key}-data`]);
  if (inline !== undefined) return Buffer.from(inline, 'base64').toString();
  const file = text(fields[key]);
  return file === undefined ? undefined : readFileSync(resolve(dirname(path), file), 'utf8');
}

function readTokenFile(user: Fields, path: string): string | undefined {
  const file = text(user['tokenFile']);
  return file === undefined ? undefined : readFileSync(resolve(dirname(path), file), 'utf8').trim();
}
