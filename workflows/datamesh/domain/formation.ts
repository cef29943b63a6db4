import { quorumOf, type Layout } from './layouts.ts';
import { votersOf, type Mesh } from './mesh.ts';
import type { NodeCommand } from './node-commands.ts';
import type { Member, Replica } from './observed.ts';
import { buildStep, type PlannedStep } from './steps.ts';
import type { PlannedTransition } from './transitions.ts';

/**
 * Creates a datamesh: all members are prepared, then connected in one step directly as what they are to be
 * (nothing is written yet, so no liminal state is needed), then one of them gives the others its data.
 */
export function planFormation(mesh: Mesh, replicas: readonly Replica[], layout: Layout): PlannedTransition {
  const members: Member[] = replicas.map((replica) => ({
    name: replica.name,
    type: replica.wants,
    node: replica.node,
    zone: replica.zone,
    upToDate: replica.wants === 'D',
    attached: false,
  }));
  const empty: Mesh = { ...mesh, members: [] };
  const formed: Mesh = { ...mesh, members, q: quorumOf(votersOf(members)), qmr: layout.qmr };
  const all = members.map((member) => member.name);
  const connect = buildStep(
    empty,
    {},
    formed,
    {},
    {
      from: '✦',
      to: 'D',
      subject: null,
      wait: 'every member is connected to its peers, and every disk is Inconsistent',
      irreversible: false,
      reason: `${layout.name} is connected as a whole, with q ${formed.q} and qmr ${formed.qmr}`,
    },
  );
  const prepare = (only: boolean): Record<string, readonly NodeCommand[]> =>
    Object.fromEntries(
      Object.entries(connect.actions).map(([name, commands]) => [
        name,
        commands.filter((command) => (command.do === 'join') === only),
      ]),
    );
  const first = members.find((member) => member.type === 'D');
  const bootstrap: PlannedStep = {
    ...connect,
    from: 'D',
    to: 'D',
    confirm: first === undefined ? [] : [first.name],
    actions: first === undefined ? {} : { [first.name]: [{ do: 'new-current-uuid', clearBitmap: true }] },
    wait: 'every Diskful is UpToDate',
    reason: 'one new data generation, which every disk shares',
  };
  return {
    op: 'Formation',
    member: null,
    node: null,
    from: '✦',
    to: 'D',
    plan: 'create/v1',
    parallelism: 'Formation',
    steps: [
      {
        ...connect,
        from: '✦',
        to: '✦',
        confirm: all,
        actions: prepare(true),
        wait: null,
        reason: 'every node gets the resource, without peers and without a vote',
      },
      { ...connect, actions: prepare(false) },
      bootstrap,
    ],
    findings: [],
    mesh: formed,
  };
}
