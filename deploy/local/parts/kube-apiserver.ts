import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readOrWrite, writeWhole } from '../files.ts';
import { pathOf } from '../home.ts';
import { writeKubeconfig } from '../kubernetes/kubeconfig.ts';
import type { Part, PartCommand, PartContext } from '../part.ts';
import { checkHttp } from '../readiness.ts';
import { controlPlane, KUBERNETES_VERSION } from './control-plane.ts';

/** Who holds a static token: the bootstrap, and the two servers that Kubernetes itself gives roles to. */
const STATIC_USERS = [
  { component: 'admin', user: 'admin', groups: 'system:masters' },
  { component: 'kube-controller-manager', user: 'system:kube-controller-manager', groups: '' },
  { component: 'kube-scheduler', user: 'system:kube-scheduler', groups: '' },
] as const;

/** A pod on a node that is lost, or not ready, is evicted after this long instead of after five minutes. */
const TOLERATION_SECONDS = 5;

/** The Kubernetes API. */
export const kubeApiserver: Part = {
  name: 'kube-apiserver',
  summary: 'the Kubernetes API',
  version: KUBERNETES_VERSION,
  starts: 'always',
  dependsOn: ['etcd'],
  artifacts: [controlPlane],
  ports: { api: 6443 },
  graceMs: 15_000,
  addresses: (context) => ({ api: serverUrl(context), kubeconfig: context.kubeconfig('admin') }),
  async prepare(context) {
    mkdirSync(directoryOf(context), { recursive: true, mode: 0o700 });
    readOrWrite(serviceAccountKeyFile(context), makeKey);
    for (const { component, user } of STATIC_USERS) {
      const access = { ...endpointOf(context), token: tokenOf(context, component), user };
      writeKubeconfig(context.kubeconfig(component), access);
    }
    const rows = STATIC_USERS.map(
      ({ component, user, groups }) => `${tokenOf(context, component)},${user},${user},"${groups}"`,
    );
    writeWhole(join(directoryOf(context), 'tokens.csv'), `${rows.join('\n')}\n`);
  },
  command: apiserverCommand,
  checkReady: (context) => checkHttp(`${serverUrl(context)}/readyz`, { caFile: certificateFile(context) }),
  async afterReady(context) {
    const { bootstrapKubernetes } = await import('../kubernetes/bootstrap.ts');
    await bootstrapKubernetes(context.home, endpointOf(context));
  },
};

/** The key that signs and checks ServiceAccount tokens. */
export function serviceAccountKeyFile(context: PartContext): string {
  return join(directoryOf(context), 'service-account.key');
}

/** The certificate that the API server makes for itself, with the authority that signed it. */
export function certificateFile(context: PartContext): string {
  return join(directoryOf(context), 'certificates', 'apiserver.crt');
}

function endpointOf(context: PartContext): { server: string; caFile: string } {
  return { server: serverUrl(context), caFile: certificateFile(context) };
}

function apiserverCommand(context: PartContext): PartCommand {
  const key = serviceAccountKeyFile(context);
  return {
    program: context.file(controlPlane, 'control-plane'),
    args: [
      'kube-apiserver',
      `--etcd-servers=http://127.0.0.1:${context.portOf('etcd', 'client')}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${context.port('api')}`,
      `--cert-dir=${join(directoryOf(context), 'certificates')}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      `--token-auth-file=${join(directoryOf(context), 'tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--allow-privileged=true',
      `--default-not-ready-toleration-seconds=${TOLERATION_SECONDS}`,
      `--default-unreachable-toleration-seconds=${TOLERATION_SECONDS}`,
      // One server alone has nobody to hand over to: it may stop as soon as its requests are done.
      '--shutdown-delay-duration=0s',
      '--shutdown-send-retry-after=false',
    ],
  };
}

function tokenOf(context: PartContext, component: string): string {
  return readOrWrite(join(directoryOf(context), `${component}.token`), () => randomBytes(24).toString('hex'));
}

function makeKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
}

function serverUrl(context: PartContext): string {
  return `https://127.0.0.1:${context.portOf('kube-apiserver', 'api')}`;
}

function directoryOf(context: PartContext): string {
  return pathOf.data(context.home, 'kube-apiserver');
}
