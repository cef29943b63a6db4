import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import { nothingIsLeft } from '../../faults/operations/valkey-invariants.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';

const SMALL = { replicasPerMaster: 0, persistence: { size: '64Mi', retention: 'Delete' } } as const;

/** Every field that the specification's resource has, as users of it have them in their manifests. */
const EVERY_FIELD = {
  masters: 6,
  replicasPerMaster: 2,
  image: {
    repository: 'valkey/valkey',
    tag: '9.0.1-alpine',
    pullPolicy: 'Always',
    pullSecrets: ['registry'],
  },
  tls: {
    issuerRef: { name: 'ca', kind: 'Issuer', group: 'cert-manager.io' },
    duration: '720h',
    renewBefore: '240h',
  },
  auth: {
    secretRef: { name: 'shop-auth', key: 'pw' },
    acl: { enabled: true, configSecretRef: { name: 'shop-acl', key: 'acl.conf' }, adminUser: 'admin' },
  },
  persistence: {
    enabled: true,
    storageClassName: 'fast',
    size: '20Gi',
    aof: { enabled: true, fsync: 'always' },
    rdb: { enabled: true, saveRules: ['900 1', '300 10'] },
  },
  resources: { requests: { cpu: '250m', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } },
  scheduling: {
    spreadMasters: true,
    topologyKey: 'topology.kubernetes.io/zone',
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'valkey', operator: 'Equal', value: 'yes', effect: 'NoSchedule' }],
  },
  labels: { team: 'shop' },
  annotations: { 'example.com/owner': 'shop' },
  readService: { enabled: true, serviceType: 'LoadBalancer', annotations: { 'example.com/lb': 'internal' } },
  metricsExporter: {
    enabled: true,
    image: 'exporter:1',
    port: 9121,
    resources: { cpuRequest: '10m', memoryLimit: '64Mi' },
    extraEnv: { REDIS_EXPORTER_DEBUG: 'true' },
  },
  replication: { disklessSync: true, disklessSyncDelay: 3, minReplicasToWrite: 1, minReplicasMaxLag: 10 },
} as const;

describe('the definition of ValkeyCluster', () => {
  let world: ClusterWorld;
  let path: string;
  beforeAll(async () => {
    world = await ClusterWorld.create(await useStack());
    path = `/apis/valkey-operator.smoketurner.com/v1alpha1/namespaces/${world.namespace}/valkeyclusters`;
  });
  afterAll(() => world.remove());

  const create = (spec: object): Promise<{ readonly spec: unknown }> =>
    world.api.send('POST', `${path}?dryRun=All&fieldValidation=Strict`, {
      apiVersion: 'valkey-operator.smoketurner.com/v1alpha1',
      kind: 'ValkeyCluster',
      metadata: { name: 'tried' },
      spec,
    });

  it('takes every field of the specification, and keeps it as it was written', async () => {
    expect((await create(EVERY_FIELD)).spec).toMatchObject(EVERY_FIELD);
  });

  it('fills in what is left out', async () => {
    expect((await create({})).spec).toMatchObject({
      masters: 3,
      replicasPerMaster: 1,
      image: { repository: 'valkey/valkey', tag: '9.1.2', pullPolicy: 'IfNotPresent' },
      persistence: { enabled: true, size: '10Gi' },
    });
  });

  it('does not know a field that there is not', async () => {
    await expect(create({ mastersCount: 3 })).rejects.toThrow(/mastersCount/);
  });

  describe('of one that is there', () => {
    // Its Secret is not: nothing is created for it.
    beforeAll(() => world.apply({ ...SMALL, auth: { secretRef: { name: 'cache-auth' } } }));

    it.each([
      [{ auth: { secretRef: { name: 'other' } } }, 'spec.auth.secretRef.name is immutable: set it back'],
      [{ persistence: { size: '128Mi' } }, 'spec.persistence.size is immutable'],
      [{ persistence: { enabled: false } }, 'spec.persistence.enabled is immutable'],
      [{ tls: { secretName: 'tls' } }, 'spec.tls can not be added'],
      [{ auth: null }, 'spec.auth can not be added to or taken from'],
    ])('refuses to change %j, and says what to do', async (spec, words) => {
      const change = world.api.send(
        'PATCH',
        `${path}/${world.name}`,
        { spec },
        'application/merge-patch+json',
      );
      await expect(change).rejects.toThrow(words);
    });
  });
});

describe('a ValkeyCluster', () => {
  it('whose issuer nobody serves says so in a condition, with the remedy, and creates nothing', async () => {
    const world = await ClusterWorld.create(await useStack());
    await world.applyWithSecret({ ...SMALL, tls: { issuerRef: { name: 'ca' } } });
    const message = await world.until(async () => {
      const seen = await world.read();
      const found = seen?.status?.conditions?.find((one) => one.message.includes('spec.tls.issuerRef'));
      return found === undefined
        ? { missing: `a condition, it says ${JSON.stringify(seen?.status)}` }
        : { found: found.message };
    });
    expect(message).toContain('install cert-manager, or name a Secret in spec.tls.secretName');
    expect(await nothingIsLeft.broken(world)).toBeNull();
    await world.remove();
  });
});
