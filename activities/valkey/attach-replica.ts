import { failure } from '../../workflows/shared/failures.ts';
import { pollUntil, type Look } from '../polling.ts';
import { readCredentials, withMember, type Member, type ValkeyClients } from './access.ts';
import type { ValkeyAccess, ValkeyActivities } from './contract.ts';
import { parseInfo } from './info.ts';
import { countSlots } from './slots.ts';
import { readView } from './view.ts';

type Input = Parameters<ValkeyActivities['attachValkeyReplica']>[0];

const LOOK_EVERY_MS = 50;

/** Makes the server a replica of that master; one that is already only waits for its link. */
export function attachReplica(
  clients: ValkeyClients,
  { access, server, masterId }: Input,
): Promise<{ readonly linkSeconds: number }> {
  return withMember(clients, access, server, async (member) => {
    const startedMs = performance.now();
    if (!(await isReplicaOf(member, masterId))) {
      await pollUntil(LOOK_EVERY_MS, () => lookForMaster(member, masterId));
      await member.tell('CLUSTER', 'REPLICATE', masterId);
    }
    const master = await pollUntil(LOOK_EVERY_MS, () => lookForLink(member, masterId));
    const goal = await readOffset(clients, access, { pod: masterId, ...master });
    await pollUntil(LOOK_EVERY_MS, () => lookForOffset(member, goal));
    return { linkSeconds: Math.round(performance.now() - startedMs) / 1_000 };
  });
}

/** Refuses a server whose data nobody else may have: as a replica of another it would drop it. */
async function isReplicaOf(member: Member, masterId: string): Promise<boolean> {
  const { self, members } = await readView(member);
  if (self.slots.length > 0)
    throw failure(
      'ValkeySlotBusy',
      `${member.server.pod} serves ${countSlots(self.slots)} slots: it cannot become a replica`,
    );
  if (self.role === 'replica' && self.masterId === masterId) return true;
  const [before, after] = [self.masterId, masterId].map((id) => members.find((node) => node.id === id));
  const lost = before !== undefined && (!before.connected || before.failing !== 'no');
  if (before !== undefined && before.slots.length > 0 && (lost || after?.slots.length === 0))
    throw failure(
      'ValkeyNotConverged',
      `${member.server.pod} has the data of ${before.id}, which owns ${countSlots(before.slots)} slots: it cannot follow another master`,
    );
  return false;
}

/** The server must have heard of the master, as a master, before it can follow it. */
async function lookForMaster(member: Member, masterId: string): Promise<Look<null>> {
  const master = (await readView(member)).members.find((node) => node.id === masterId);
  if (master === undefined) return { waiting: `${member.server.pod} has not heard of ${masterId} yet` };
  if (master.role === 'replica') throw failure('ValkeyPodReplaced', `${masterId} is a replica itself by now`);
  return { done: null };
}

/** Answers, once the link is up, where the master listens. */
async function lookForLink(
  member: Member,
  masterId: string,
): Promise<Look<{ readonly ip: string; readonly port: number }>> {
  const info = parseInfo(await member.ask('INFO', 'replication'));
  if (info['role'] !== 'slave' && info['role'] !== 'replica')
    return { waiting: `${member.server.pod} is becoming a replica` };
  const { self } = await readView(member);
  if (self.masterId !== masterId)
    throw failure('ValkeyPodReplaced', `${member.server.pod} follows ${self.masterId ?? 'nobody'} by now`);
  if (info['master_link_status'] === 'up' && info['master_sync_in_progress'] !== '1')
    return { done: { ip: info['master_host'] ?? '', port: Number(info['master_port']) } };
  const left = Number(info['master_sync_left_bytes'] ?? -1);
  const transfer = left > 0 ? `, ${left} bytes are left` : '';
  return { waiting: `${member.server.pod} waits for the data of its master${transfer}` };
}

/** Where the master stands now: what was written until the link came up. */
async function readOffset(
  clients: ValkeyClients,
  access: ValkeyAccess,
  master: { readonly pod: string; readonly ip: string; readonly port: number },
): Promise<number> {
  const connection = await clients.connect(master, await readCredentials(clients.kubernetes, access));
  try {
    return Number(parseInfo(await connection.ask('INFO', 'replication'))['master_repl_offset'] ?? 0);
  } finally {
    connection.close();
  }
}

async function lookForOffset(member: Member, goal: number): Promise<Look<null>> {
  const info = parseInfo(await member.ask('INFO', 'replication'));
  const offset = Number(info['slave_repl_offset'] ?? info['replica_repl_offset'] ?? 0);
  if (offset >= goal) return { done: null };
  return { waiting: `${member.server.pod} is ${goal - offset} bytes behind its master` };
}
