import { existsSync, mkdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Artifact } from '../cache/artifact.ts';
import { debianPackages } from '../cache/debian.ts';
import { pathPrograms } from '../cache/path-program.ts';
import { writeWhole } from '../files.ts';
import { pathOf } from '../home.ts';
import type { KubeletConfig, NodeSpec } from '../kubelet/config.ts';
import { KubernetesApi } from '../kubernetes/api.ts';
import type { Part, PartContext } from '../part.ts';
import { KUBERNETES_VERSION } from './control-plane.ts';
import { imageArtifacts, writeImageCatalogue } from './image-catalogue.ts';

const PROGRAM = fileURLToPath(new URL('../kubelet/main.ts', import.meta.url));

/** What gives a pod its own view of the file system. */
export const bubblewrap: Artifact = {
  name: 'bubblewrap',
  version: '0.8',
  files: { 'usr/bin/bwrap': { verifiedBy: "Debian's signature of the release" } },
  sources: [
    pathPrograms(['usr/bin/bwrap'], { args: ['--version'], fits: /bubblewrap (0\.([89]|\d\d+)|[1-9])/ }),
    debianPackages({ release: 'machine', packages: ['bubblewrap'] }),
  ],
};

/** Two zones of two nodes and one of one: enough to lose a node, and a zone. */
const NODES: readonly NodeSpec[] = [
  { name: 'node-a1', zone: 'a' },
  { name: 'node-a2', zone: 'a' },
  { name: 'node-b1', zone: 'b' },
  { name: 'node-b2', zone: 'b' },
  { name: 'node-c1', zone: 'c' },
];

/** Nodes that run pods as processes of this machine. */
export const nodes: Part = {
  name: 'nodes',
  summary: 'five nodes in three zones, which run pods as processes',
  version: KUBERNETES_VERSION,
  starts: 'always',
  exists: () => existsSync(PROGRAM),
  dependsOn: ['kube-apiserver'],
  artifacts: [bubblewrap, ...imageArtifacts],
  ports: { server: 16250 },
  graceMs: 20_000,
  addresses: () => ({}),
  async prepare(context) {
    mkdirSync(context.dataDirectory, { recursive: true });
    writeImageCatalogue(context);
    writeWhole(configFile(context), `${JSON.stringify(buildConfig(context), undefined, 2)}\n`);
  },
  command: (context) => ({ program: process.execPath, args: [PROGRAM, configFile(context)] }),
  checkReady: checkNodesReady,
};

function buildConfig(context: PartContext): KubeletConfig {
  return {
    kubeconfig: context.kubeconfig('nodes'),
    nodes: NODES,
    stateDir: context.dataDirectory,
    imagesFile: pathOf.images(context.home),
    podOctet: podOctet(context.portOffset),
    serverPort: context.port('server'),
    bwrap: context.file(bubblewrap, 'usr/bin/bwrap'),
  };
}

/** The addresses of pods are 127.<octet>.y.z. The prime keeps stacks with any usual distance of offsets apart. */
export function podOctet(portOffset: number): number {
  return 10 + (portOffset % 241);
}

/** A node of an earlier run still looks ready for a while: what counts is a heartbeat since this start. */
async function checkNodesReady(context: PartContext): Promise<void> {
  const startedAtMs = statSync(configFile(context)).mtimeMs;
  const api = new KubernetesApi(context.kubeconfig('nodes'));
  try {
    const { items: nodes } = (await api.send('GET', '/api/v1/nodes')) as { items: readonly NodeObject[] };
    const { items: leases } = (await api.send('GET', LEASES)) as { items: readonly LeaseObject[] };
    const ready = new Set(nodes.filter(isReady).map(({ metadata }) => metadata.name));
    const alive = leases.filter(({ spec }) => Date.parse(spec?.renewTime ?? '') > startedAtMs);
    const names = new Set(alive.map(({ metadata }) => metadata.name));
    const missing = NODES.map(({ name }) => name).filter((name) => !ready.has(name) || !names.has(name));
    if (missing.length > 0) throw new Error(`not ready: ${missing.join(', ')}`);
  } finally {
    api.close();
  }
}

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

interface LeaseObject {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly renewTime?: string };
}

interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

function isReady(node: NodeObject): boolean {
  return node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

function configFile(context: PartContext): string {
  return pathOf.config(context.home, 'nodes.json');
}
