import { votersOf, type Mesh } from './mesh.ts';
import type { Member } from './observed.ts';
import { keepsQuorum } from './zone-survival.ts';

/** What goes wrong if a blocked transition were carried out: the smallest loss that shows it, with the members' own names. */
export interface Counterexample {
  readonly lost: readonly string[];
  readonly what: string;
}

/** Looks for the smallest loss that the layout promises to survive and that the members after the transition do not. */
export function findCounterexample(before: Mesh, after: Mesh): Counterexample | null {
  const { ftt, gmdr, topology } = before.configuration;
  const copies = after.members.filter((member) => member.type === 'D' && member.upToDate);
  if (copies.length < gmdr + 1)
    return {
      lost: [],
      what: `only ${copies.length} UpToDate ${copies.length === 1 ? 'copy is' : 'copies are'} left (${namesOf(copies)}), and GMDR=${gmdr} promises ${gmdr + 1}`,
    };
  if (before.qmr > copies.length)
    return {
      lost: [],
      what: `${copies.length} copies are fewer than qmr=${before.qmr}: writes stop at once`,
    };
  const tie = tieBelowRedundancy(after);
  if (tie !== null) return tie;
  const losses = [
    ...lossesOf(after.members, ftt),
    ...(topology === 'TransZonal' && ftt > 0 ? zonesOf(after.members) : []),
  ];
  for (const lost of losses) {
    const gone = (member: Member): boolean => lost.includes(member);
    if (keepsQuorum(after.members, gone)) continue;
    const rest = after.members.filter((member) => !gone(member));
    return {
      lost: lost.map((member) => member.name),
      what: `${namesOf(rest)} are left with ${votersOf(rest)} of ${votersOf(after.members)} votes, q=${after.q}: no quorum, although FTT=${ftt} promises to survive it`,
    };
  }
  return null;
}

/** A broken tie serves with half of the copies, whatever qmr says. */
function tieBelowRedundancy(after: Mesh): Counterexample | null {
  const voters = after.members.filter((member) => member.type === 'D');
  const ties = after.members.filter((member) => member.type === 'TB');
  const half = voters.length / 2;
  if (ties.length === 0 || voters.length % 2 !== 0 || after.qmr <= half) return null;
  return {
    lost: voters.slice(half).map((member) => member.name),
    what: `${namesOf(voters.slice(0, half))} break the tie with ${namesOf(ties)} and acknowledge writes with ${half} copies, although qmr=${after.qmr}`,
  };
}

const namesOf = (members: readonly Member[]): string =>
  members.map((member) => member.name).join(', ') || 'nobody';

/** Every set of so many members, the small sets first. */
function lossesOf(members: readonly Member[], most: number): readonly (readonly Member[])[] {
  const counted = members.filter((member) => member.type !== 'A');
  const ones = most >= 1 ? counted.map((member) => [member]) : [];
  const twos = most >= 2 ? counted.flatMap((a, at) => counted.slice(at + 1).map((b) => [a, b])) : [];
  return [...ones, ...twos];
}

const zonesOf = (members: readonly Member[]): readonly (readonly Member[])[] =>
  [...new Set(members.map((member) => member.zone))]
    .sort()
    .map((zone) => members.filter((member) => member.zone === zone));
