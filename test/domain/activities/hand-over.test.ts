import { describe, expect, test } from 'vitest';
import type { ValkeyClients } from '../../../activities/valkey/access.ts';
import { handOver } from '../../../activities/valkey/hand-over.ts';

const MASTERS = 3;
const HEIR = 4;
const id = (n: number): string => String(n).padStart(40, '0');
const server = (n: number) => ({ pod: `p-${n}`, podUid: `u-${n}`, ip: `10.0.0.${n}`, port: 6379 });
const servers = [1, 2, 3, HEIR].map(server);
const access = { namespace: 'default', cluster: 'cache', auth: null, tls: null };

/** Three masters and a replica of the first, which sees its master like this; and what they were told. */
function shard(flags: string, link: string): { readonly clients: ValkeyClients; readonly told: string[] } {
  const told: string[] = [];
  const nodesOf = (self: number): string =>
    servers
      .map((_, at) => {
        const n = at + 1;
        const role = n <= MASTERS ? 'master' : 'slave';
        const [seen, state] = self === HEIR && n === 1 ? [flags, link] : [role, 'connected'];
        const slots = n <= MASTERS ? `${(n - 1) * 5_000}-${n * 5_000 - 1}` : '';
        const mark = n === self ? `myself,${role}` : seen;
        return `${id(n)} 10.0.0.${n}:6379@16379 ${mark} ${n === HEIR ? id(1) : '-'} 0 0 ${n} ${state} ${slots}`;
      })
      .join('\n');
  const answers: Readonly<Record<string, (self: number) => string>> = {
    'CLUSTER NODES': nodesOf,
    'CLUSTER INFO': () => 'cluster_state:ok\ncluster_slots_assigned:15000\ncluster_current_epoch:4',
    'INFO replication': () => 'master_link_status:up\r\nmaster_sync_in_progress:0',
  };
  const connect = async ({ pod }: { readonly pod: string }) => {
    const self = Number(pod.slice(2));
    return {
      endpoint: server(self),
      ask: async (...words: readonly string[]) => answers[words.join(' ')]?.(self) ?? '',
      askList: async () => [],
      tell: async (...words: readonly string[]) => {
        told.push(`${pod} ${words.join(' ')}`);
        throw new Error('as far as this story goes');
      },
      close: () => {},
    };
  };
  const read = async ({ name }: { readonly name: string }) => ({
    metadata: { name, uid: `u-${name.slice(2)}` },
    status: { podIP: `10.0.0.${name.slice(2)}` },
  });
  return { clients: { kubernetes: { read }, connect } as unknown as ValkeyClients, told };
}

describe('a replica that is to take over', () => {
  test('is asked when it reaches its master', async () => {
    const { clients, told } = shard('master', 'connected');
    const asked = handOver(clients, { access, server: server(HEIR), servers });
    await expect(asked).rejects.toThrow('as far as this story goes');
    expect(told).toEqual(['p-4 CLUSTER FAILOVER']);
  });

  test.each([
    ['has no link to its master', 'master', 'disconnected'],
    ['suspects its master', 'master,fail?', 'connected'],
    ['has heard that its master failed', 'master,fail', 'connected'],
  ])('is not asked while it %s on the bus of the cluster', async (_, flags, link) => {
    const { clients, told } = shard(flags, link);
    await expect(handOver(clients, { access, server: server(HEIR), servers })).rejects.toMatchObject({
      type: 'ValkeyNotConverged',
      message: 'p-4 cannot take over yet: it does not reach p-1, its master, on the cluster bus',
    });
    expect(told).toEqual([]);
  });
});
