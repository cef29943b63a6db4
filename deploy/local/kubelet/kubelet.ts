import { mkdirSync } from 'node:fs';
import type { Server } from 'node:https';
import { join } from 'node:path';
import { KubernetesApi } from '../kubernetes/api.ts';
import { readKubeconfig } from '../kubernetes/kubeconfig.ts';
import { Reflector } from '../kubernetes/reflector.ts';
import type { KeyedData, Pod } from './api/objects.ts';
import type { KubeletConfig } from './config.ts';
import { readNodeStates, serveNodeStates } from './control.ts';
import { AddressBook } from './node/addresses.ts';
import type { NodeContext } from './node/context.ts';
import { loadPods } from './node/disk.ts';
import { EventRecorder } from './node/events.ts';
import { Images } from './node/images.ts';
import { LocalNode } from './node/local-node.ts';
import type { NodeState } from './node/local-node.ts';
import { Pods } from './node/pods.ts';
import type { PodRunner } from './pod/runner.ts';
import { serveNode } from './server/server.ts';

const refreshMs = 30_000;
const shutdownGraceMs = 5_000;

/** All nodes of one process. */
export class Kubelet {
  private readonly config: KubeletConfig;
  private readonly api: KubernetesApi;
  /** Heartbeats never wait behind the writes of a hundred pods, and those never behind events. */
  private readonly heartbeats: KubernetesApi;
  private readonly messages: KubernetesApi;
  private readonly images: Images;
  private readonly stop = new AbortController();
  private readonly nodes = new Map<string, LocalNode>();
  private readonly contexts = new Map<string, NodeContext>();
  private readonly pods: Pods;
  private readonly reflectors: readonly {
    run: (signal: AbortSignal, onTrouble: (error: unknown) => void) => Promise<void>;
  }[];
  private readonly podsDir: string;
  private readonly log: NodeContext['log'];
  private servers: readonly Server[] = [];

  constructor(config: KubeletConfig, log: NodeContext['log']) {
    this.config = config;
    this.log = log;
    this.podsDir = join(config.stateDir, 'pods');
    mkdirSync(this.podsDir, { recursive: true, mode: 0o700 });
    const connection = readKubeconfig(config.kubeconfig);
    this.api = new KubernetesApi(connection);
    this.heartbeats = new KubernetesApi(connection, config.nodes.length);
    this.messages = new KubernetesApi(connection, 4);
    this.images = new Images(config.imagesFile);
    this.createNodes();
    const podWatch: Reflector<Pod> = new Reflector<Pod>(
      this.api,
      '/api/v1/pods',
      'fieldSelector=spec.nodeName!%3D',
      {
        changed: (pod) => this.pods.changed(pod),
        removed: (pod) => this.pods.removed(pod),
        listed: () => this.pods.listed(),
      },
    );
    const saved = loadPods(this.podsDir, (path, error) => log(`cannot read ${path}`, error));
    this.pods = new Pods(this.contexts, saved, podWatch.store);
    this.reflectors = [
      podWatch,
      this.watchData('configMaps', '/api/v1/configmaps'),
      this.watchData('secrets', '/api/v1/secrets'),
    ];
  }

  /** Runs until `shutDown`. */
  async run(): Promise<void> {
    const { signal } = this.stop;
    this.servers = await Promise.all(
      [...this.contexts.values()].map(({ name, address }) =>
        serveNode(name, address, this.config.serverPort, {
          pods: () => this.pods.each(name),
          directoryOf: (uid) => join(this.podsDir, uid),
        }),
      ),
    );
    serveNodeStates(
      this.config.stateDir,
      [...this.nodes.keys()],
      (node, state) => this.changeNode(node, state),
      signal,
    );
    this.images.watch(() => this.eachPod((pod) => pod.retry()), signal);
    for (const node of this.nodes.values()) node.start();
    const timer = setInterval(() => {
      this.eachPod((pod) => pod.refresh(Date.now()));
      this.eachPod((pod) => pod.trimLogs());
    }, refreshMs);
    signal.addEventListener('abort', () => clearInterval(timer));
    await Promise.all(
      this.reflectors.map((reflector) => reflector.run(signal, (error) => this.log('a watch broke', error))),
    );
  }

  /** Stops all containers and ends. */
  async shutDown(): Promise<void> {
    this.stop.abort();
    for (const node of this.nodes.values()) node.stop();
    await Promise.all([...this.pods.each()].map((pod) => pod.stopContainers(shutdownGraceMs)));
    for (const server of this.servers) server.closeAllConnections();
    for (const server of this.servers) server.close();
    for (const client of [this.api, this.heartbeats, this.messages]) client.close();
  }

  private createNodes(): void {
    const { config, api, log } = this;
    const addresses = new AddressBook(config.podOctet, join(config.stateDir, 'addresses'));
    const events = new EventRecorder(this.messages, (error) => log('cannot write an event', error));
    const states = readNodeStates(config.stateDir);
    const capacity = { cpu: '8', memory: '16Gi', ...config.capacity, pods: '110' };
    for (const [index, spec] of config.nodes.entries()) {
      const address = addresses.nodeAddress(index);
      const identity = { ...spec, address, port: config.serverPort, capacity };
      const node = new LocalNode(this.heartbeats, identity, states[spec.name] ?? 'ready', log);
      this.nodes.set(spec.name, node);
      this.contexts.set(spec.name, {
        name: spec.name,
        address,
        allocatable: capacity,
        api,
        events,
        addresses,
        log,
        images: this.images,
        podsDir: this.podsDir,
        bwrap: config.bwrap,
        backOff: config.restartBackOff ?? { baseMs: 1_000, maxMs: 30_000 },
        environment: buildSharedEnvironment(api),
        isActive: () => node.state === 'ready',
      });
    }
  }

  private watchData(kind: 'configMaps' | 'secrets', path: string): Reflector<KeyedData> {
    const notice = ({ metadata }: KeyedData): void =>
      this.pods.notice(kind, metadata.namespace, metadata.name);
    return new Reflector<KeyedData>(this.api, path, '', { changed: notice, removed: notice });
  }

  private async changeNode(name: string, state: NodeState): Promise<void> {
    const node = this.nodes.get(name);
    if (node === undefined || node.state === state) return;
    const before = node.state;
    node.change(state);
    this.log(`node ${name} was ${before} and is ${state}`);
    if (state === 'killed') await Promise.all([...this.pods.each(name)].map((pod) => pod.killContainers()));
    if (state === 'ready') this.pods.catchUp(name, before === 'killed');
  }

  private eachPod(visit: (pod: PodRunner) => void): void {
    for (const pod of this.pods.each()) visit(pod);
  }
}

/** The API server's address in the usual variables, and the mark by which a supervisor finds orphans. */
function buildSharedEnvironment(api: KubernetesApi): Record<string, string> {
  const { hostname, port } = api.connection.server;
  const stack = process.env['KEELSON_STACK'];
  return {
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    ...(stack === undefined ? {} : { KEELSON_STACK: stack }),
  };
}
