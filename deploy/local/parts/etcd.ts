import { mkdirSync } from 'node:fs';
import type { Part, PartCommand, PartContext } from '../part.ts';
import { checkHttp } from '../readiness.ts';
import { controlPlane } from './control-plane.ts';

const ETCD_VERSION = '3.6.8';

/** The store of the Kubernetes API. */
export const etcd: Part = {
  name: 'etcd',
  summary: 'the store of the Kubernetes API',
  starts: 'always',
  dependsOn: [],
  ...etcdServer({ client: 12379, peer: 12380 }),
};

/** A second, independent etcd: the topology store of the pool pods. */
export const etcdPool: Part = {
  name: 'etcd-pool',
  summary: 'a second etcd, for the topology of pool pods',
  starts: 'on-request',
  dependsOn: [],
  ...etcdServer({ client: 12479, peer: 12480 }),
};

function etcdServer(
  ports: Readonly<Record<'client' | 'peer', number>>,
): Pick<
  Part,
  'version' | 'artifacts' | 'ports' | 'graceMs' | 'addresses' | 'prepare' | 'command' | 'checkReady'
> {
  return {
    version: ETCD_VERSION,
    artifacts: [controlPlane],
    ports,
    graceMs: 10_000,
    addresses: (context) => ({ client: `http://127.0.0.1:${context.port('client')}` }),
    async prepare({ dataDirectory }) {
      mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
    },
    command: etcdCommand,
    checkReady: (context) => checkHttp(`http://127.0.0.1:${context.port('client')}/readyz`),
  };
}

function etcdCommand(context: PartContext): PartCommand {
  const client = `http://127.0.0.1:${context.port('client')}`;
  const peer = `http://127.0.0.1:${context.port('peer')}`;
  return {
    program: context.file(controlPlane, 'control-plane'),
    args: [
      'etcd',
      '--name=keelson',
      `--data-dir=${context.dataDirectory}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=keelson=${peer}`,
      '--log-level=warn',
      // What a killed process has written is safe without it; only a machine that loses power could lose data.
      '--unsafe-no-fsync',
    ],
  };
}
