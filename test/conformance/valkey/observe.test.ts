import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createValkeyActivities } from '../../../activities/valkey/activities.ts';
import { createValkeyConnect } from '../../../activities/valkey/client.ts';
import type { ValkeyActivities, ValkeyServer } from '../../../activities/valkey/contract.ts';
import { valkeyNaming } from '../../../worker/activities.ts';
import type {
  ValkeyClusterSpec,
  ValkeyObservation,
} from '../../../workflows/valkey-cluster/domain/observation.ts';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { openStage, SPECIMEN, type KubernetesStage } from '../kubernetes/stage.ts';
import { openRealServers } from './real-servers.ts';
import type { ValkeyStage } from './stage.ts';

/** A kind of the tests' own, so that no worker of the stack takes these clusters for its work. */
const naming = { ...valkeyNaming, ...SPECIMEN, clusterLabel: 'conformance.keelson.test/cluster' };

let kubernetes: KubernetesStage;
let servers: ValkeyStage;
let activities: ValkeyActivities;

beforeAll(async () => {
  kubernetes = await openStage();
  servers = await openRealServers('9.1.2');
  activities = createValkeyActivities({
    kubernetes: kubernetes.client,
    connect: createValkeyConnect(),
    naming,
  });
});
afterAll(async () => {
  await servers.close();
  await kubernetes.close();
});

async function createCluster(name: string, spec: Partial<ValkeyClusterSpec> = {}): Promise<void> {
  const metadata = { name, namespace: kubernetes.namespace };
  await kubernetes.client.create(
    { ...SPECIMEN, ...metadata },
    { ...SPECIMEN, metadata, spec: { ...DEFAULT_SPEC, ...spec } },
  );
}

/** A pod of the cluster that claims the address of a server which runs beside it. */
async function createPod(cluster: string, shard: number, server: ValkeyServer | null): Promise<string> {
  const name = `${cluster}-${shard}-${server?.pod ?? 'none'}`;
  const pod = { apiVersion: 'v1', kind: 'Pod', namespace: kubernetes.namespace, name };
  const labels = { [naming.clusterLabel]: cluster, [naming.shardLabel]: String(shard) };
  await kubernetes.client.create(pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: pod.namespace, labels },
    spec: { nodeName: 'conformance-nowhere', containers: [{ name: 'valkey', image: 'valkey/valkey:9.1.2' }] },
  });
  const status =
    server === null
      ? { phase: 'Pending' }
      : { phase: 'Running', podIP: server.ip, conditions: [{ type: 'Ready', status: 'True' }] };
  await kubernetes.client.patch(pod, {
    type: 'merge',
    manager: 'kubelet',
    subresource: 'status',
    body: { status },
  });
  return name;
}

async function observe(name: string): Promise<ValkeyObservation> {
  const observed = await activities.observeValkeyCluster({ namespace: kubernetes.namespace, name });
  if (observed === null) throw new Error('the cluster is gone');
  return observed;
}

describe('observing', () => {
  test('a resource that is not there gives nothing', async () => {
    expect(
      await activities.observeValkeyCluster({ namespace: kubernetes.namespace, name: 'nobody' }),
    ).toBeNull();
  });

  test('tells of each pod which node it is, and which does not answer', async () => {
    await createCluster('seen');
    const [master, replica, dead] = await servers.start(3);
    if (master === undefined || replica === undefined || dead === undefined)
      throw new Error('three were started');
    const access = servers.access();
    const { nodeIds } = await servers.activities.meetValkeyNodes({ access, servers: [master, replica] });
    await servers.activities.assignValkeySlots({ access, server: master, ranges: [[0, 99]] });
    await servers.activities.attachValkeyReplica({
      access,
      server: replica,
      masterId: nodeIds[master.pod] ?? '',
    });
    await servers.kill(dead);
    const masterPod = await createPod('seen', 0, master);
    const replicaPod = await createPod('seen', 0, replica);
    const deadPod = await createPod('seen', 1, dead);
    const pending = await createPod('seen', 2, null);

    const observed = await observe('seen');
    expect(observed.cluster).toMatchObject({
      name: 'seen',
      generation: 1,
      deleting: false,
      spec: { masters: 3 },
    });
    expect(observed.nodes).toMatchObject([
      { pod: masterPod, shard: 0, role: 'master', slots: [[0, 99]], version: '9.1.2', ready: true },
      { pod: replicaPod, shard: 0, role: 'replica', masterId: nodeIds[master.pod], linkUp: true },
    ]);
    expect(observed.pods.find((pod) => pod.name === pending)).toMatchObject({
      shard: 2,
      ip: null,
      ready: false,
      nodeId: null,
    });
    expect(observed.health).toMatchObject({
      answered: 2,
      slotsAssigned: 100,
      viewsAgree: true,
      unreachable: [{ pod: deadPod, why: expect.stringContaining('ECONNREFUSED') }],
    });
    expect(observed.orphans).toEqual([]);
    expect(JSON.parse(JSON.stringify(observed))).toEqual(observed);
  });

  test('names every field that leads to something missing, with the remedy', async () => {
    await createCluster('missing', {
      auth: { secretRef: { name: 'no-auth', key: 'password' } },
      tls: {
        issuerRef: { name: 'no-issuer', kind: 'ClusterIssuer', group: 'cert-manager.io' },
        duration: '2160h',
        renewBefore: '360h',
      },
      image: { ...DEFAULT_SPEC.image, pullSecrets: ['no-pull'] },
      persistence: { ...DEFAULT_SPEC.persistence, storageClassName: 'no-class' },
    });
    const { missing } = await observe('missing');
    expect(missing.map(({ field }) => field)).toEqual([
      'spec.auth.secretRef',
      'spec.tls.issuerRef',
      'spec.image.pullSecrets[0]',
      'spec.persistence.storageClassName',
    ]);
    expect(missing.map(({ message }) => message).join('\n')).toMatch(
      /Secret no-auth does not exist: create it[^]*cert-manager/,
    );
  });

  test('refuses a spec that it cannot work with, and names the field', async () => {
    await createCluster('odd', { masters: 'three' as unknown as number });
    await expect(observe('odd')).rejects.toMatchObject({
      type: 'ResourceInvalid',
      message: expect.stringContaining('spec.masters'),
    });
    await createCluster('vague', { resources: { requests: {}, limits: { memory: 'lots' } } });
    await expect(observe('vague')).rejects.toMatchObject({
      type: 'ResourceInvalid',
      message: expect.stringContaining('spec.resources.limits.memory'),
    });
  });

  test('notices a Secret that lacks the key', async () => {
    const name = { apiVersion: 'v1', kind: 'Secret', namespace: kubernetes.namespace, name: 'keyless' };
    await kubernetes.client.create(name, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keyless', namespace: name.namespace },
      stringData: { other: 'x' },
    });
    await createCluster('keyless', { auth: { secretRef: { name: 'keyless', key: 'password' } } });
    expect((await observe('keyless')).missing).toEqual([
      { field: 'spec.auth.secretRef', message: 'Secret keyless has no key "password": add it' },
    ]);
  });
});
