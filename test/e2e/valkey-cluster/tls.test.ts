import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSelfSignedCertificate } from '../../../deploy/local/kubelet/server/certificate.ts';
import { useStack } from '../../../deploy/local/testing.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { tellServers, wrongWith } from '../../valkey/server-view.ts';

let world: ClusterWorld;
beforeAll(async () => {
  const { cert, key } = createSelfSignedCertificate('cache');
  world = await ClusterWorld.create(await useStack());
  // The certificate names no address; that it is this very one is what is checked.
  world.tls = { ca: cert, checkServerIdentity: () => undefined };
  await world.api.send('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
    metadata: { name: 'cache-certificate' },
    stringData: { 'tls.crt': cert, 'tls.key': key, 'ca.crt': cert },
  });
});
afterAll(() => world.remove());

it('forms with TLS for clients, replication and the bus, and refuses whoever speaks without', async () => {
  await world.applyWithSecret({
    image: { tag: '8.1.1-tls' },
    tls: { secretName: 'cache-certificate' },
    persistence: { size: '64Mi', retention: 'Delete' },
  });
  await world.awaitPhase('Running');
  expect(await wrongWith(world, 3, 1)).toBeNull();
  const settings = await tellServers(world, async (client) => client.config('GET', 'tls-*'));
  for (const setting of settings)
    expect(setting).toEqual(expect.arrayContaining(['tls-cluster', 'yes', 'tls-replication']));
  world.tls = null;
  await expect(tellServers(world, (client) => client.ping())).rejects.toThrow(/clos|reset|ECONN/i);
});
