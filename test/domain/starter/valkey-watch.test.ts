import { describe, expect, it } from 'vitest';
import { watch } from '../../../starter/watches/valkey-cluster.ts';
import { CLUSTER_LABEL, API_GROUP, KIND } from '../../../workflows/valkey-cluster/domain/names.ts';
import { UPGRADE_KIND } from '../../../workflows/valkey-upgrade/domain/resource.ts';

const pods = watch.secondaries.find((one) => one.kind === 'Pod');

const pod = (ready: string, more: object = {}) => ({
  metadata: { namespace: 'shop', name: 'cache-0-0', labels: { [CLUSTER_LABEL]: 'cache' } },
  status: { phase: 'Running', podIP: '127.1.0.1', conditions: [{ type: 'Ready', status: ready }], ...more },
});

describe('the watch of Valkey clusters', () => {
  it('speaks of the same resource and label as the lifecycle', () => {
    expect(watch.primary).toMatchObject({ group: API_GROUP, kind: KIND });
    const parts = watch.secondaries.filter((one) => one.is === 'part' && one.namedBy === undefined);
    for (const one of parts) expect(one.labelSelector).toBe(CLUSTER_LABEL);
  });

  it('takes an upgrade for a wish for the cluster that it names', () => {
    const upgrades = watch.secondaries.find((one) => one.kind === UPGRADE_KIND);
    expect(upgrades?.is).toBe('wish');
    const upgrade = { metadata: { namespace: 'shop' }, spec: { clusterRef: { name: 'cache' } } };
    expect(upgrades?.owner(upgrade)).toEqual({ namespace: 'shop', name: 'cache' });
    expect(upgrades?.owner({ metadata: { namespace: 'shop' } })).toBeNull();
  });

  it('finds the cluster of a pod by its label, and none without', () => {
    expect(pods?.owner(pod('True'))).toEqual({ namespace: 'shop', name: 'cache' });
    expect(pods?.owner({ metadata: { namespace: 'shop', name: 'other' } })).toBeNull();
  });

  it('takes changed data of a Secret that the cluster names for news', () => {
    const secrets = watch.secondaries.find((one) => one.kind === 'Secret');
    const auth = { secretRef: { name: 'cache-auth' }, acl: { configSecretRef: { name: 'cache-acl' } } };
    const cluster = { spec: { auth, tls: { secretName: 'cache-tls' } } };
    expect(secrets?.namedBy?.(cluster)).toEqual(['cache-auth', 'cache-acl', 'cache-tls']);
    expect(secrets?.namedBy?.({})).toEqual([]);
    const news = (value: string) => secrets?.news?.({ data: { password: value } });
    expect(news('b')).not.toBe(news('a'));
    expect(news('a')).toBe(news('a'));
  });

  it('takes a pod that loses its readiness, its address or its life for news, and nothing else of its status', () => {
    const news = (object: object) => pods?.news?.({ ...object });
    expect(news(pod('True', { qosClass: 'Burstable' }))).toBe(news(pod('True')));
    expect(news(pod('False'))).not.toBe(news(pod('True')));
    expect(news(pod('True', { podIP: '127.1.0.2' }))).not.toBe(news(pod('True')));
    expect(news(pod('True', { phase: 'Failed' }))).not.toBe(news(pod('True')));
    expect(news({})).toBe(news({ status: null }));
  });
});
