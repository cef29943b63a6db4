import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ApiClient } from '../../../deploy/local/kubelet/api/client.ts';
import { readKubeconfig } from '../../../deploy/local/kubelet/api/kubeconfig.ts';
import type { ImageCatalogue, KubeletConfig } from '../../../deploy/local/kubelet/config.ts';

const token = 'kubelet-test-admin';

export interface Cluster {
  readonly directory: string;
  readonly kubeconfig: string;
  readonly api: ApiClient;
  stop(): Promise<void>;
}

/** Starts etcd, the API server, the controllers and the scheduler in a new directory. */
export async function startCluster(binary: string, basePort: number): Promise<Cluster> {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-test-'));
  const children: ChildProcess[] = [];
  const run = (server: string, args: readonly string[]): void => {
    const child = spawn(binary, [server, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const log = createWriteStream(join(directory, `${server}.log`));
    child.stdout?.pipe(log);
    child.stderr?.pipe(log);
    children.push(child);
  };
  const [etcd, peer, secure, controllers, scheduler] = [0, 1, 2, 3, 4].map((index) => basePort + index);
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const path = (name: string): string => join(directory, name);
  writeFileSync(path('sa.key'), key.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(path('tokens.csv'), `${token},admin,admin,system:masters\n`);
  writeFileSync(path('kubeconfig'), buildKubeconfig(`https://127.0.0.1:${secure}`));
  run('etcd', [
    `--data-dir=${path('etcd')}`,
    `--listen-client-urls=http://127.0.0.1:${etcd}`,
    `--advertise-client-urls=http://127.0.0.1:${etcd}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-cluster=default=http://127.0.0.1:${peer}`,
    '--unsafe-no-fsync',
  ]);
  await awaitPort(Number(etcd));
  run('kube-apiserver', [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    `--secure-port=${secure}`,
    '--bind-address=127.0.0.1',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${path('sa.key')}`,
    `--service-account-signing-key-file=${path('sa.key')}`,
    `--token-auth-file=${path('tokens.csv')}`,
    '--authorization-mode=RBAC',
    `--cert-dir=${path('certs')}`,
    '--allow-privileged=true',
    '--default-not-ready-toleration-seconds=5',
    '--default-unreachable-toleration-seconds=5',
  ]);
  const api = new ApiClient(readKubeconfig(path('kubeconfig')));
  await until(
    'the API server is ready',
    async () => (await api.read('/api/v1/namespaces/default')) !== undefined,
    60_000,
  );
  run('kube-controller-manager', [
    `--kubeconfig=${path('kubeconfig')}`,
    '--leader-elect=false',
    `--service-account-private-key-file=${path('sa.key')}`,
    `--secure-port=${controllers}`,
    '--node-monitor-grace-period=8s',
    '--node-monitor-period=1s',
  ]);
  run('kube-scheduler', [
    `--kubeconfig=${path('kubeconfig')}`,
    '--leader-elect=false',
    `--secure-port=${scheduler}`,
  ]);
  return {
    directory,
    kubeconfig: path('kubeconfig'),
    api,
    stop: () => stopCluster(children, api, directory),
  };
}

function buildKubeconfig(server: string): string {
  return JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token } }],
  });
}

async function stopCluster(
  children: readonly ChildProcess[],
  api: ApiClient,
  directory: string,
): Promise<void> {
  api.close();
  for (const child of [...children].reverse()) {
    const ended = new Promise((done) => child.once('exit', done));
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await ended;
    }
  }
  if (process.env['KEEP'] === undefined) rmSync(directory, { recursive: true, force: true });
}

async function awaitPort(port: number): Promise<void> {
  await until(`port ${port} answers`, () => {
    const { promise, resolve: done } = Promise.withResolvers<boolean>();
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
    return promise.finally(() => socket.destroy());
  });
}

/** Waits until a condition holds; its last failure is part of the complaint when it never does. */
export async function until(what: string, check: () => Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  const deadlineMs = Date.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      if (await check()) return;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadlineMs) throw new Error(`in ${timeoutMs} ms not: ${what}`, { cause: last });
    await new Promise((done) => setTimeout(done, 50));
  }
}

export interface NodeProcess {
  readonly stateDir: string;
  readonly pid: number;
  /** Kills the process without any chance to tidy up. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the node process with five nodes in three zones. */
export function startNodes(
  cluster: Cluster,
  podOctet: number,
  serverPort: number,
  images: ImageCatalogue,
): NodeProcess {
  const stateDir = join(cluster.directory, 'nodes');
  mkdirSync(stateDir, { recursive: true });
  const config: KubeletConfig = {
    kubeconfig: cluster.kubeconfig,
    nodes: ['a', 'b', 'c', 'a', 'b'].map((zone, index) => ({ name: `node-${index + 1}`, zone })),
    stateDir,
    imagesFile: join(cluster.directory, 'images.json'),
    podOctet,
    serverPort,
    bwrap: 'bwrap',
  };
  writeFileSync(config.imagesFile, JSON.stringify(images));
  const file = join(cluster.directory, 'nodes.json');
  writeFileSync(file, JSON.stringify(config));
  const main = resolve(import.meta.dirname, '../../../deploy/local/kubelet/main.ts');
  const child = spawn(process.execPath, [main, file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, KEELSON_STACK: cluster.directory },
  });
  const log = createWriteStream(join(cluster.directory, 'nodes.log'), { flags: 'a' });
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill(signal);
    await ended;
  };
  return { stateDir, pid: child.pid ?? 0, crash: () => end('SIGKILL'), stop: () => end('SIGTERM') };
}
