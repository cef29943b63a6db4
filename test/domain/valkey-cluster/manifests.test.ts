import { describe, expect, it } from 'vitest';
import type { Json } from '../../../workflows/shared/plan.ts';
import { buildShardSet, buildSharedObjects } from '../../../workflows/valkey-cluster/domain/manifests.ts';
import { templateHash } from '../../../workflows/valkey-cluster/domain/pod-template.ts';
import {
  buildServerConfig,
  effectiveMinReplicasToWrite,
} from '../../../workflows/valkey-cluster/domain/server-config.ts';
import { SERVER_SCRIPTS } from '../../../workflows/valkey-cluster/domain/server-scripts.ts';
import { sampleCluster, sampleSpec } from './sample-cluster.ts';

/** Reads along a path of keys and indices. */
const at = (value: Json | undefined, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), value);

const kinds = (spec = {}): string[] =>
  buildSharedObjects(sampleCluster(spec)).map((one) => `${one.kind}/${one.metadata.name}`);

describe('the StatefulSet of a shard', () => {
  const set = buildShardSet(sampleCluster({ replicasPerMaster: 2 }), 7);

  it('starts all pods of the shard together and restarts none by itself', () => {
    expect(at(set, 'spec', 'replicas')).toBe(3);
    expect(at(set, 'spec', 'podManagementPolicy')).toBe('Parallel');
    expect(at(set, 'spec', 'updateStrategy', 'type')).toBe('OnDelete');
  });

  it('finds its pods by cluster and shard', () => {
    const labels = {
      'valkey-operator.smoketurner.com/cluster': 'cache',
      'valkey-operator.smoketurner.com/shard': '7',
    };
    expect(at(set, 'spec', 'selector', 'matchLabels')).toEqual(labels);
    expect(at(set, 'spec', 'template', 'metadata', 'labels')).toMatchObject(labels);
  });

  it('keeps the copies of a shard on different nodes, and in different zones where it can', () => {
    const rules = at(set, 'spec', 'template', 'spec', 'topologySpreadConstraints');
    expect(rules).toMatchObject([
      { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' },
      { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
      { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
    ]);
  });

  it('only prefers the spread when it is switched off', () => {
    const scheduling = { ...sampleSpec.scheduling, spreadMasters: false };
    const soft = buildShardSet(sampleCluster({ scheduling }), 0);
    const rules = at(soft, 'spec', 'template', 'spec', 'topologySpreadConstraints');
    expect(JSON.stringify(rules)).not.toContain('DoNotSchedule');
  });

  it('keeps or deletes the volumes by the retention that the spec asks for', () => {
    const persistence = { ...sampleSpec.persistence, retention: 'Delete' as const };
    const policy = { whenDeleted: 'Delete', whenScaled: 'Delete' };
    const deleting = buildShardSet(sampleCluster({ persistence }), 0);
    expect(at(deleting, 'spec', 'persistentVolumeClaimRetentionPolicy')).toEqual(policy);
  });

  it('has no claim when nothing is to persist', () => {
    const persistence = { ...sampleSpec.persistence, enabled: false };
    const memory = buildShardSet(sampleCluster({ persistence }), 0);
    expect(at(memory, 'spec', 'volumeClaimTemplates')).toBeUndefined();
    expect(at(memory, 'spec', 'template', 'spec', 'volumes')).toContainEqual({ name: 'data', emptyDir: {} });
  });

  it('takes the password from a mounted file, so that no argument and no environment names it', () => {
    const container = at(set, 'spec', 'template', 'spec', 'containers', 0);
    expect(JSON.stringify(container)).not.toContain('secretKeyRef');
    expect(at(set, 'spec', 'template', 'spec', 'volumes')).toContainEqual({
      name: 'auth',
      secret: {
        secretName: 'cache-auth',
        defaultMode: 0o440,
        items: [{ key: 'password', path: 'password' }],
      },
    });
    expect(SERVER_SCRIPTS['start.sh']).not.toMatch(/valkey-server.*(pass|auth)/);
  });
});

describe('the hash of what only a restart changes', () => {
  const base = templateHash(sampleCluster());

  it('is the same for other labels, other shards counts and settings that a running server takes', () => {
    const same = sampleCluster({
      masters: 9,
      labels: { team: 'a' },
      replication: { ...sampleSpec.replication, minReplicasToWrite: 1 },
      persistence: { ...sampleSpec.persistence, rdb: { enabled: false, saveRules: [] } },
    });
    expect(templateHash(same)).toBe(base);
  });

  it.each([
    ['the image', { image: { ...sampleSpec.image, tag: '9.1.1' } }],
    ['the resources', { resources: { ...sampleSpec.resources, requests: { cpu: '2' } } }],
    ['the exporter', { metricsExporter: { ...sampleSpec.metricsExporter, enabled: true } }],
    ['the node selector', { scheduling: { ...sampleSpec.scheduling, nodeSelector: { disk: 'ssd' } } }],
  ])('changes with %s', (_, spec) => {
    expect(templateHash(sampleCluster(spec))).not.toBe(base);
  });
});

describe('the objects that all shards share', () => {
  it('are the configuration, the Services and the disruption budget', () => {
    expect(kinds()).toEqual([
      'ConfigMap/cache-config',
      'Service/cache-headless',
      'Service/cache',
      'PodDisruptionBudget/cache',
    ]);
  });

  it('have a read Service when the spec asks for it', () => {
    expect(kinds({ readService: { ...sampleSpec.readService, enabled: true } })).toContain(
      'Service/cache-read',
    );
  });

  it('have a Certificate for an issuer, but none beside a Secret of the user', () => {
    const issuerRef = { name: 'ca', kind: 'Issuer', group: 'cert-manager.io' };
    const tls = { issuerRef, duration: '2160h', renewBefore: '360h' };
    expect(kinds({ tls })).toContain('Certificate/cache-tls');
    expect(kinds({ tls: { ...tls, secretName: 'own' } })).not.toContain('Certificate/cache-tls');
  });

  it('let a drain evict one pod at a time', () => {
    const budget = buildSharedObjects(sampleCluster()).find((one) => one.kind === 'PodDisruptionBudget');
    expect(at(budget, 'spec', 'maxUnavailable')).toBe(1);
  });
});

describe('the configuration of the servers', () => {
  it.each([
    [1, 1, 0],
    [1, 2, 1],
    [5, 2, 1],
    [1, 0, 0],
    [0, 3, 0],
  ])(
    'turns %i wanted replicas for a write, of %i, into %i, so that one may restart',
    (wanted, replicas, effective) => {
      const replication = { ...sampleSpec.replication, minReplicasToWrite: wanted };
      expect(effectiveMinReplicasToWrite({ ...sampleSpec, replicasPerMaster: replicas, replication })).toBe(
        effective,
      );
    },
  );

  it('reads as this for the sample', () => {
    expect(buildServerConfig(sampleSpec)).toMatchInlineSnapshot(`
      "dir /data
      protected-mode no
      port 6379
      cluster-port 16379
      cluster-enabled yes
      cluster-config-file nodes.conf
      cluster-node-timeout 5000
      cluster-require-full-coverage no
      cluster-allow-reads-when-down no
      cluster-allow-replica-migration no
      maxmemory 805306368
      maxmemory-policy noeviction
      appendonly yes
      appendfsync everysec
      save 900 1 300 10 60 10000
      repl-diskless-sync no
      repl-diskless-sync-delay 0
      min-replicas-to-write 0
      min-replicas-max-lag 10
      "
    `);
  });

  it('speaks TLS on every connection when the spec has it', () => {
    const tls = { secretName: 'own', duration: '2160h', renewBefore: '360h' };
    const config = buildServerConfig({ ...sampleSpec, tls });
    expect(config).toContain('port 0\ntls-port 6379\n');
    expect(config).toContain('tls-cluster yes\ntls-replication yes\n');
  });

  it('writes nothing to disk when nothing is to persist', () => {
    const config = buildServerConfig({
      ...sampleSpec,
      persistence: { ...sampleSpec.persistence, enabled: false },
    });
    expect(config).toContain('appendonly no\n');
    expect(config).toContain('save ""\n');
  });
});
