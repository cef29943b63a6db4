import { randomBytes } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'iovalkey';
import type { KubernetesClient, Patch } from '../../../activities/kubernetes/client.ts';
import type { ObjectIdentity, ObjectName } from '../../../activities/kubernetes/contract.ts';
import type { KubernetesObject } from '../../../activities/kubernetes/objects.ts';
import { createValkeyActivities } from '../../../activities/valkey/activities.ts';
import { createValkeyConnect } from '../../../activities/valkey/client.ts';
import type { ValkeyServer } from '../../../activities/valkey/contract.ts';
import { resolveArtifact } from '../../../deploy/local/cache/resolve.ts';
import { silentProgress } from '../../../deploy/local/progress.ts';
import { valkey8, valkey9 } from '../../../deploy/local/parts/valkey-images.ts';
import { valkeyNaming } from '../../../worker/activities.ts';
import { collect, type ServerOptions, type ValkeyStage } from './stage.ts';

const PORT = 6379;
const NAMESPACE = 'conformance';

interface Running {
  readonly server: ValkeyServer;
  readonly process: ChildProcess;
  readonly directory: string;
  readonly password: string | null;
  podUid: string;
}

/** Servers of a version as local processes, each on a loopback address of its own. */
export async function openRealServers(version: string): Promise<ValkeyStage> {
  const program = await findProgram(version);
  const network = `127.${60 + (process.pid % 60)}.${randomBytes(1)[0]}`;
  const running: Running[] = [];
  let started = 0;
  const secrets = new Map<string, KubernetesObject>();
  const kubernetes = {
    read: readObject,
    patch: writeObject,
    list: unused,
    has: unused,
  } as unknown as KubernetesClient;
  const writeSecret = (name: string, data: Readonly<Record<string, string>>): void => {
    const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    const metadata = { name, uid: `uid-of-${name}`, resourceVersion: '1' };
    secrets.set(name, { metadata, data: Object.fromEntries(encoded) } as KubernetesObject);
  };
  const connect = createValkeyConnect();

  async function readObject({ kind, name }: ObjectName): Promise<unknown> {
    if (kind === 'Secret') return secrets.get(name) ?? null;
    if (kind === OWNER.kind) return { metadata: OWNER };
    const found = running.find(({ server }) => server.pod === name);
    return found === undefined
      ? null
      : { metadata: { name, uid: found.podUid }, status: { podIP: found.server.ip } };
  }

  /** An apply to a Secret, which is all that the activities write here. */
  async function writeObject({ name }: ObjectName, { body }: Patch): Promise<unknown> {
    const object = body as KubernetesObject;
    const written = { ...object, metadata: { ...object.metadata, uid: `uid-of-${name}` } };
    secrets.set(name, written);
    return written;
  }

  async function startOne(options: ServerOptions, data?: string): Promise<Running> {
    const at = (started += 1);
    const ip = `${network}.${at}`;
    const directory = data ?? (await mkdtemp(join(tmpdir(), 'keelson-valkey-')));
    const lines = [
      ...COMMON,
      ['dir', directory],
      ['bind', ip],
      ['bind-source-addr', ip],
      ['cluster-announce-ip', ip],
      ...(options.password === undefined
        ? []
        : [
            ['requirepass', options.password],
            ['primaryauth', options.password],
          ]),
      ...(options.settings ?? []),
    ];
    // The configuration goes in by standard input, so that no password stands in the list of processes.
    const child = spawn(program, ['-'], { stdio: ['pipe', 'pipe', 'ignore'] });
    child.stdin.end(lines.map((line) => `${line.join(' ')}\n`).join(''));
    const said = collect(child.stdout);
    const server = { pod: `pod-${at}`, podUid: `uid-${at}`, ip, port: PORT };
    const one = {
      server,
      process: child,
      directory,
      password: options.password ?? null,
      podUid: server.podUid,
    };
    running.push(one);
    await awaitPing(one, said);
    return one;
  }

  const find = (server: ValkeyServer): Running => {
    const found = running.find((one) => one.server.pod === server.pod);
    if (found === undefined) throw new Error(`${server.pod} was never started`);
    return found;
  };

  return {
    activities: createValkeyActivities({ kubernetes, connect, naming: valkeyNaming }),
    start: async (count, options = {}) =>
      (await Promise.all(Array.from({ length: count }, () => startOne(options)))).map(({ server }) => server),
    command: (server, ...words) => send(find(server), words),
    access(auth) {
      if (auth !== undefined) writeSecret(`secret-${auth.password}`, { password: auth.password });
      return {
        namespace: NAMESPACE,
        cluster: 'conformance',
        auth:
          auth === undefined
            ? null
            : { secret: `secret-${auth.password}`, key: 'password', user: auth.user ?? 'default' },
        tls: null,
      };
    },
    owner: OWNER,
    writeSecret,
    async logIn(server, user, password) {
      const words = ['AUTH', user, password];
      return send({ ...find(server), password: null }, words).then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
    },
    replacePod: (server) => void (find(server).podUid = 'another'),
    async move(server) {
      const { directory, process: child } = find(server);
      await stop(child);
      return (await startOne({}, directory)).server;
    },
    kill: (server) => end(find(server)),
    close: async () => void (await Promise.all(running.map(end))),
  };
}

const OWNER: ObjectIdentity = {
  apiVersion: valkeyNaming.apiVersion,
  kind: valkeyNaming.kind,
  namespace: NAMESPACE,
  name: 'conformance',
  uid: 'uid-of-conformance',
};

const COMMON = [
  ['port', String(PORT)],
  ['cluster-enabled', 'yes'],
  ['cluster-node-timeout', '5000'],
  ['cluster-require-full-coverage', 'no'],
  ['protected-mode', 'no'],
  ['save', '""'],
  ['repl-diskless-sync-delay', '0'],
] as const;

const unused = (): Promise<never> => Promise.reject(new Error('this stage has no API server'));

async function findProgram(version: string): Promise<string> {
  const artifact = [valkey8, ...valkey9].find((one) => one.version === version);
  if (artifact === undefined) throw new Error(`there is no Valkey ${version}`);
  const resolved = await resolveArtifact(artifact, silentProgress, new AbortController().signal);
  return resolved.file('valkey-server');
}

/** Ends when the server answers; fails with its own words when it ends instead. */
async function awaitPing(one: Running, said: () => string): Promise<void> {
  for (;;) {
    if (one.process.exitCode !== null) throw new Error(`the server ended: ${said()}`);
    const answer = await send(one, ['PING']).catch(() => null);
    if (answer !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function send(one: Running, [name = '', ...args]: readonly string[]): Promise<string> {
  const client = new Redis({
    host: one.server.ip,
    port: PORT,
    lazyConnect: true,
    retryStrategy: () => null,
    enableReadyCheck: false,
    ...(one.password === null ? {} : { password: one.password }),
  });
  client.on('error', () => {}); // The rejected command tells.
  try {
    await client.connect();
    return String(await client.call(name, ...args));
  } finally {
    client.disconnect();
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function end(one: Running): Promise<void> {
  await stop(one.process);
  await rm(one.directory, { recursive: true, force: true });
}
