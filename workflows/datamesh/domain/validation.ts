import { KERNEL_FACTS, KERNELS, isKernel } from './kernels.ts';
import { quorumOf, refuseLayout, TOPOLOGIES } from './layouts.ts';
import { isMemberState, needsVolume, STATE_FACTS } from './member-states.ts';
import { votersOf } from './mesh.ts';
import { MODES, VOLUME_ACCESS, type Intent, type Member, type Observed } from './observed.ts';

/** DRBD's metadata has slots for seven peers, so eight members can have a disk. */
export const MAX_DISKS = 8;
export const MAX_MEMBERS = 32;

const oneOf = (name: string, value: string, all: readonly string[]): readonly string[] =>
  all.includes(value) ? [] : [`unknown ${name} "${value}": it must be one of ${all.join(', ')}`];

/** Why this observation cannot be planned from; empty when it can. Each text gives the rule and the numbers. */
export function refuseObserved(observed: Observed, intents: readonly Intent[] | null): readonly string[] {
  const { configuration } = observed;
  const layout = refuseLayout(configuration.ftt, configuration.gmdr);
  const words = [
    ...oneOf('kernel', observed.kernel, KERNELS),
    ...oneOf('topology', configuration.topology, TOPOLOGIES),
    ...oneOf('volumeAccess', configuration.volumeAccess, VOLUME_ACCESS),
    ...oneOf('mode', configuration.mode, MODES),
    ...(layout === null ? [] : [layout]),
    ...observed.members.flatMap((member) => refuseState(member)),
  ];
  if (words.length > 0) return words;
  return [...refuseMembers(observed.members), ...refuseShadow(observed), ...refuseQuorum(observed, intents)];
}

const refuseState = (member: Member): readonly string[] => {
  if (!isMemberState(member.type)) return [`${member.name}: unknown type "${String(member.type)}"`];
  return STATE_FACTS[member.type].member
    ? []
    : [`${member.name}: ${member.type} (${STATE_FACTS[member.type].name}) is not a member's state`];
};

/** Members of one datamesh: distinct names, one to a node, and not more disks than metadata slots. */
export function refuseMembers(members: readonly Member[]): readonly string[] {
  const disks = members.filter((member) => needsVolume(member.type)).length;
  return [
    ...twice(members, (member) => member.name).map(([name]) => `two members have the name ${name}`),
    ...twice(members, (member) => member.node).map(
      ([node, names]) => `two members on one node: ${names.join(' and ')} are both on ${node}`,
    ),
    ...(disks > MAX_DISKS
      ? [`at most ${MAX_DISKS} members can have a disk (DRBD has 7 peer slots), not ${disks}`]
      : []),
    ...(members.length > MAX_MEMBERS ? [`at most ${MAX_MEMBERS} members, not ${members.length}`] : []),
  ];
}

/** The values that more than one member has, with those members. */
function twice(
  members: readonly Member[],
  of: (member: Member) => string,
): readonly (readonly [string, readonly string[]])[] {
  const seen: Record<string, string[]> = {};
  for (const member of members) (seen[of(member)] ??= []).push(member.name);
  return Object.entries(seen).filter(([, names]) => names.length > 1);
}

function refuseShadow(observed: Observed): readonly string[] {
  if (!isKernel(observed.kernel) || KERNEL_FACTS[observed.kernel].shadow) return [];
  return observed.members
    .filter((member) => member.type === 'sD' || member.type === 'sD∅')
    .map((member) => `${member.name}: ${member.type} needs the flant kernel, not ${observed.kernel}`);
}

function refuseQuorum(observed: Observed, intents: readonly Intent[] | null): readonly string[] {
  const voters = votersOf(observed.members);
  if (voters === 0) return [];
  const q = quorumOf(voters);
  const repairs = intents?.length === 1 && intents[0]?.op === 'ChangeQuorum' && intents[0].q === q;
  const refused: string[] = [];
  if (observed.q !== q && !repairs)
    refused.push(
      `q=${observed.q} does not fit ${voters} voters: q must be floor(${voters}/2)+1 = ${q}; repair it first with ChangeQuorum {"q":${q},"qmr":${Math.min(observed.qmr, voters)}}`,
    );
  const fits = Number.isInteger(observed.qmr) && observed.qmr >= 1 && observed.qmr <= voters;
  if (!fits && !repairs)
    refused.push(`qmr=${observed.qmr} does not fit ${voters} voters: qmr must be 1 to ${voters}`);
  return refused;
}

/** Why an explicit intent makes no sense for these members; null when it does. */
export function refuseIntent(members: readonly Member[], intent: Intent): string | null {
  if (intent.op === 'ChangeQuorum') {
    const voters = votersOf(members);
    const q = quorumOf(voters);
    if (intent.q !== q)
      return `ChangeQuorum: q=${intent.q} does not fit ${voters} voters: q must be floor(${voters}/2)+1 = ${q}`;
    return Number.isInteger(intent.qmr) && intent.qmr >= 1 && intent.qmr <= voters
      ? null
      : `ChangeQuorum: qmr=${intent.qmr} does not fit ${voters} voters: qmr must be 1 to ${voters}`;
  }
  const known = members.some((member) => member.name === intent.member);
  if (intent.op !== 'AddMember') return known ? null : `${intent.op}: ${intent.member} is no member`;
  if (known) return `AddMember: ${intent.member} is a member already`;
  const { node, zone, member: name } = intent;
  const joined = { name, node, zone, type: intent.type, upToDate: false, attached: false };
  return refuseMembers([...members, joined])[0] ?? null;
}
