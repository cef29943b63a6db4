import type { StackHandle } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';

const SMALL = {
  masters: 3,
  replicasPerMaster: 1,
  persistence: { size: '64Mi', retention: 'Delete' },
} as const;

/** Clusters in the four states that a person may find an operation in. */
export interface Scenes {
  /** Its creation waits for pods that no node has room for. */
  readonly running: ClusterWorld;
  /** Its creation may not begin before a Secret is there. */
  readonly waiting: ClusterWorld;
  /** Its creation was forbidden by a quota. */
  readonly failed: ClusterWorld;
  /** It is whole. */
  readonly finished: ClusterWorld;
}

/** Brings all four about, each in a namespace of its own. */
export async function setScenes(stack: StackHandle): Promise<Scenes> {
  const create = (name: string): Promise<ClusterWorld> => ClusterWorld.create(stack, name);
  const [running, waiting, failed, finished] = await Promise.all([
    create('sessions'),
    create('carts'),
    create('search'),
    create('orders'),
  ]);
  await forbidStatefulSets(failed);
  await Promise.all([
    running.applyWithSecret({ ...SMALL, resources: { requests: { cpu: '1000' }, limits: { cpu: '1000' } } }),
    waiting.apply({ ...SMALL, auth: { secretRef: { name: 'carts-password' } } }),
    failed.applyWithSecret(SMALL),
    finished.applyWithSecret(SMALL),
  ]);
  await finished.awaitPhase('Running');
  await awaitStatus(running, 'WaitingForPods', /Unschedulable/);
  await awaitStatus(waiting, 'Pending', /carts-password/);
  await awaitStatus(failed, 'Failed', /exceeded quota/);
  return { running, waiting, failed, finished };
}

/** Takes everything away again; what a quota kept from being created is not in the way of that. */
export async function removeScenes({ running, waiting, failed, finished }: Scenes): Promise<void> {
  await Promise.all([running, waiting, failed, finished].map((world) => world.remove()));
}

async function forbidStatefulSets(world: ClusterWorld): Promise<void> {
  const path = `/api/v1/namespaces/${world.namespace}/resourcequotas`;
  const hard = { 'count/statefulsets.apps': '0' };
  await world.api.send('POST', path, { metadata: { name: 'no-statefulsets' }, spec: { hard } });
  await world.until(async () => {
    const quota = (await world.api.send('GET', `${path}/no-statefulsets`)) as { status?: { hard?: object } };
    return quota.status?.hard === undefined ? { missing: 'the quota to be counted' } : { found: true };
  });
}

const awaitStatus = (world: ClusterWorld, phase: string, words: RegExp): Promise<boolean> =>
  world.until(async () => {
    const status = (await world.read())?.status;
    return status?.phase === phase && words.test(status.message ?? '')
      ? { found: true }
      : { missing: `${world.name} to be ${phase} because of ${words.source}: ${JSON.stringify(status)}` };
  });
