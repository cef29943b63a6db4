import { failure } from '../../workflows/shared/failures.ts';
import { reportProgress, rest } from '../attempt.ts';
import { pollUntil, type Look } from '../polling.ts';
import { withMembers, type Member, type ValkeyClients } from './access.ts';
import type { ValkeyActivities } from './contract.ts';
import { parseInfo } from './info.ts';
import { isRunning, readSlotJobs } from './slot-jobs.ts';
import { countSlots, subtractRanges } from './slots.ts';
import { dissenters, readView, seeAll, type Seen } from './view.ts';

type Input = Parameters<ValkeyActivities['handOverValkeyMaster']>[0];
type HandedOver = Awaited<ReturnType<ValkeyActivities['handOverValkeyMaster']>>;

const LOOK_EVERY_MS = 20;
/** Valkey itself gives a manual failover up after 5 s; only then may another one be asked for. */
const TAKES_AT_MOST_MS = 6_000;

/** Hands a shard to one of its replicas; one that leads already is only verified. */
export function handOver(clients: ValkeyClients, { access, server, servers }: Input): Promise<HandedOver> {
  const others = servers.filter((one) => one.pod !== server.pod);
  return withMembers(clients, access, [server, ...others], async (members) => {
    const seen = await seeAll(members);
    const [heir, ...rest] = seen;
    if (heir === undefined) throw new Error('a handover has an heir');
    const gapMs = heir.view.self.role === 'master' ? 0 : await takeOver(heir, rest);
    const epoch = await pollUntil(LOOK_EVERY_MS, () => lookForAgreement(members, heir));
    return { gapMs, epoch };
  });
}

/** The reply says only that the request was heard: the role says that it was done. */
async function takeOver(heir: Seen, others: readonly Seen[]): Promise<number> {
  const { member } = heir;
  const master = others.find(({ view }) => view.self.id === heir.view.self.masterId);
  if (master === undefined)
    throw failure('ValkeyNotConverged', `the master of ${heir.view.pod} is not among those that answer`);
  await refuseUnsafe(heir, master, others);
  const startedMs = performance.now();
  await member.tell('CLUSTER', 'FAILOVER');
  while (performance.now() - startedMs < TAKES_AT_MOST_MS) {
    reportProgress(`${heir.view.pod} is taking over from ${master.view.pod}`);
    const [role] = await member.askList('ROLE');
    if (String(role) === 'master') return Math.round(performance.now() - startedMs);
    await rest(LOOK_EVERY_MS);
  }
  throw failure('ValkeyNotConverged', `${heir.view.pod} was asked to take over, and did not within 6 s`);
}

async function refuseUnsafe(heir: Seen, master: Seen, others: readonly Seen[]): Promise<void> {
  const refuse = (why: string): never => {
    throw failure('ValkeyNotConverged', `${heir.view.pod} cannot take over yet: ${why}`);
  };
  const info = parseInfo(await heir.member.ask('INFO', 'replication'));
  if (info['master_link_status'] !== 'up' || info['master_sync_in_progress'] === '1')
    refuse('it has no link to its master');
  // The order to hold still goes over the cluster's own bus, on which the master may be lost although the data still comes.
  const leader = heir.view.members.find((node) => node.id === master.view.self.id);
  if (leader === undefined || !leader.connected || leader.failing !== 'no')
    refuse(`it does not reach ${master.view.pod}, its master, on the cluster bus`);
  const strange = dissenters([heir, ...others].map(({ view }) => view));
  if (strange.length > 0) refuse(`another view of the cluster has ${strange.join(', ')}`);
  const masters = others.filter(({ view }) => view.self.role === 'master' && countSlots(view.self.slots) > 0);
  const knowing = masters.filter(({ view }) => {
    const known = view.members.find((node) => node.id === heir.view.self.id);
    return known?.role === 'replica' && known.connected && known.failing === 'no';
  });
  if (knowing.length * 2 <= masters.length)
    refuse(`${knowing.length} of ${masters.length} masters know it as a replica, and a majority must`);
  const jobs = (await readSlotJobs(master.member)) ?? [];
  if (jobs.some(isRunning) || master.view.self.openSlots.length > 0)
    refuse('slots of its shard are moving, and a failover could lose what moves');
}

/** Every node that was asked must see the heir lead, with all that its former master served. */
async function lookForAgreement(members: readonly Member[], heir: Seen): Promise<Look<number>> {
  const views = await Promise.all(members.map(readView));
  const { id, masterId } = heir.view.self;
  const served = heir.view.members.find((node) => node.id === masterId)?.slots ?? [];
  const behind = views.filter((view) => {
    const leads = view.members.find((node) => node.id === id);
    const former = view.members.find((node) => node.id === masterId);
    return (
      leads?.role !== 'master' ||
      subtractRanges(served, leads.slots).length > 0 ||
      (former !== undefined && (former.role !== 'replica' || former.masterId !== id))
    );
  });
  const self = views[0]?.self;
  if (behind.length === 0 && self !== undefined) return { done: self.configEpoch };
  return {
    waiting: `${heir.view.pod} leads; not heard of it yet: ${behind.map(({ pod }) => pod).join(', ')}`,
  };
}
