import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Part, PartContext } from '../part.ts';
import { checkHttp } from '../readiness.ts';

/** Runs the workflows and their activities. */
export const worker: Part = keelsonPart('worker', 'runs the workflows and their activities', 19464);

/** Watches the resources, and tells the workflows that own them. */
export const starter: Part = keelsonPart(
  'starter',
  'watches resources, and wakes the workflows that own them',
  19465,
);

const WORKFLOWS = fileURLToPath(new URL('../../../workflows/index.ts', import.meta.url));

function keelsonPart(name: 'worker' | 'starter', summary: string, port: number): Part {
  const program = fileURLToPath(new URL(`../../../${name}/main.ts`, import.meta.url));
  return {
    name,
    summary,
    version: '0.1.0',
    starts: 'always',
    // Without any workflow there is nothing that a worker could do.
    exists: () => existsSync(program) && existsSync(WORKFLOWS),
    dependsOn: ['kube-apiserver', 'temporal'],
    // Pods that stop at the end are nothing that anybody has to heal.
    stopsBefore: ['nodes', 'provisioner'],
    artifacts: [],
    ports: { health: port },
    graceMs: 15_000,
    addresses: (context) => ({ metrics: `${healthUrl(context)}/metrics` }),
    command: (context) => ({ program: process.execPath, args: [program], env: environmentOf(name, context) }),
    checkReady: (context) => checkHttp(`${healthUrl(context)}/readyz`),
  };
}

function environmentOf(name: 'worker' | 'starter', context: PartContext): Readonly<Record<string, string>> {
  const prefix = `KEELSON_${name.toUpperCase()}`;
  return {
    KUBECONFIG: context.kubeconfig(name),
    TEMPORAL_ADDRESS: `127.0.0.1:${context.portOf('temporal', 'frontend')}`,
    TEMPORAL_NAMESPACE: 'default',
    KEELSON_LEASE_NAMESPACE: 'keelson-system',
    // Where spot agents find their parts, once these run.
    KEELSON_MYSQL_URL: `mysql://root@127.0.0.1:${context.portOf('mariadb', 'sql')}/keelson`,
    AWS_ENDPOINT_URL_EC2: `http://127.0.0.1:${context.portOf('ec2', 'api')}`,
    AWS_ACCESS_KEY_ID: 'embedded',
    AWS_SECRET_ACCESS_KEY: 'embedded',
    // Nobody waits for a local worker's last activities: what is cut short is done again.
    KEELSON_SHUTDOWN_GRACE_MS: '3000',
    KEELSON_SHUTDOWN_FORCE_MS: '8000',
    [`${prefix}_HOST`]: '127.0.0.1',
    [`${prefix}_PORT`]: String(context.port('health')),
  };
}

function healthUrl(context: PartContext): string {
  return `http://127.0.0.1:${context.port('health')}`;
}
