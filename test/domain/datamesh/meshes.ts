import { quorumOf, type Layout } from '../../../workflows/datamesh/domain/layouts.ts';
import { isVoter, type MemberState } from '../../../workflows/datamesh/domain/member-states.ts';
import type { Configuration, Member, Observed } from '../../../workflows/datamesh/domain/observed.ts';
import type { Kernel } from '../../../workflows/datamesh/domain/kernels.ts';

/** A member with everything that a test does not care about filled in. */
export const member = (name: string, type: MemberState, rest: Partial<Member> = {}): Member => ({
  name,
  type,
  node: `node-${name}`,
  zone: 'a',
  upToDate: type === 'D' || type === 'sD',
  attached: false,
  ...rest,
});

/** An observation of these members, with q as they need it. */
export function observed(
  members: readonly Member[],
  rest: Partial<Omit<Observed, 'configuration'>> & { configuration?: Partial<Configuration> } = {},
): Observed {
  const voters = members.filter((one) => isVoter(one.type)).length;
  const { configuration, ...others } = rest;
  return {
    resource: 'default/vol',
    kernel: 'vanilla',
    q: quorumOf(voters),
    qmr: 1,
    members,
    replicas: null,
    active: [],
    ...others,
    configuration: {
      ftt: 0,
      gmdr: 0,
      topology: 'Ignored',
      volumeAccess: 'Any',
      mode: 'managed',
      ...configuration,
    },
  };
}

/** The members of a layout at rest: d1… and tb1…, one zone each. */
export function membersOf(layout: Layout): readonly Member[] {
  const zones = ['a', 'b', 'c', 'd', 'e', 'f'];
  const diskful = Array.from({ length: layout.diskful }, (_, at) =>
    member(`d${at + 1}`, 'D', { zone: zones[at] ?? 'z' }),
  );
  const ties = Array.from({ length: layout.tiebreakers }, (_, at) =>
    member(`tb${at + 1}`, 'TB', { zone: zones[layout.diskful + at] ?? 'z' }),
  );
  return [...diskful, ...ties];
}

/** A layout at rest that is to become another. */
export const moving = (
  from: Layout,
  to: Layout,
  kernel: Kernel,
  rest: Partial<Configuration> = {},
): Observed =>
  observed(membersOf(from), {
    kernel,
    qmr: from.qmr,
    configuration: { ftt: to.ftt, gmdr: to.gmdr, ...rest },
  });
