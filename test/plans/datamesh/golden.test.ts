import { describe, expect, test } from 'vitest';
import { buildEnvelope, type EnvelopeStep } from '../../../workflows/datamesh/domain/envelope.ts';
import { KERNELS, type Kernel } from '../../../workflows/datamesh/domain/kernels.ts';
import { LAYOUT_EDGES, layoutOf } from '../../../workflows/datamesh/domain/layouts.ts';
import type { Intent, Member, Observed, Replica } from '../../../workflows/datamesh/domain/observed.ts';
import { PATHS, type Path } from '../../../workflows/datamesh/domain/paths.ts';
import { planDatamesh } from '../../../workflows/datamesh/domain/plan.ts';
import { renderPlan } from '../../../workflows/datamesh/domain/plan-text.ts';
import { member, membersOf, moving, observed } from '../../domain/datamesh/meshes.ts';

const commandLines = (step: EnvelopeStep, indent: string): readonly string[] =>
  Object.entries(step.commands).flatMap(([node, lines]) => lines.map((line) => `${indent}${node}: ${line}`));

/** The plan as text, then each node's commands of each step, so that the order is read in the diff. */
function golden(seen: Observed, intents: readonly Intent[] | null): string {
  const plan = planDatamesh(seen, intents);
  const envelope = buildEnvelope(plan);
  const commands = envelope.transitions.flatMap((one, at) =>
    one.steps.flatMap((step, nth) => [
      `--- ${at + 1}.${nth + 1} ${step.from ?? ''} → ${step.to ?? ''} (confirm: ${step.confirm.join(', ')})`,
      ...commandLines(step, ''),
      ...step.retreat.flatMap((back) => [
        `  if a member is lost: ${back.reason}`,
        ...commandLines(back, '    '),
      ]),
    ]),
  );
  return `${renderPlan(plan)}${commands.join('\n')}\n`;
}

const file = (folder: string, name: string): string =>
  `./${folder}/${name.replaceAll(/[^\w+-]+/gu, '-').replaceAll(/^-|-$/gu, '')}.txt`;
const replicaOf = (one: Member, rest: Partial<Replica> = {}): Replica => ({
  name: one.name,
  wants: one.type === 'TB' ? 'TB' : one.type === 'A' ? 'A' : 'D',
  node: one.node,
  zone: one.zone,
  deleting: false,
  ...rest,
});
const fresh = (name: string, wants: 'D' | 'TB', zone: string): Replica => ({
  name,
  wants,
  node: `node-${name}`,
  zone,
  deleting: false,
});

describe('golden plans', () => {
  const edges = LAYOUT_EDGES.flatMap(
    (edge) =>
      [
        [edge.lower, edge.upper],
        [edge.upper, edge.lower],
      ] as const,
  );
  test.each(
    KERNELS.flatMap((kernel) => edges.map(([from, to]) => [kernel, from.name, to.name, from, to] as const)),
  )('%s: %s → %s', async (kernel, _from, _to, from, to) => {
    await expect(golden(moving(from, to, kernel), null)).toMatchFileSnapshot(
      file('edges', `${kernel} ${from.name} to ${to.name}`),
    );
  });

  const kernelOf = (path: Path): Kernel => (path.flant === true ? 'flant' : 'vanilla');
  test.each(PATHS.map((path) => [path.title, path] as const))('path %s', async (_title, path) => {
    const voters = path.parity === 'odd→even' ? 3 : 2;
    const others = Array.from({ length: voters + (path.from === 'D' ? -1 : 0) }, (_, at) =>
      member(`d${at + 1}`, 'D'),
    );
    const subject = path.from === '✦' ? [] : [member('x', path.from)];
    const intent: Intent =
      path.op === 'AddMember'
        ? { op: 'AddMember', member: 'x', type: path.to as 'D', node: 'node-x', zone: 'a' }
        : path.op === 'RemoveMember'
          ? { op: 'RemoveMember', member: 'x' }
          : { op: 'ChangeMemberType', member: 'x', from: path.from, to: path.to as 'D' };
    const seen = observed([...others, ...subject], { kernel: kernelOf(path) });
    const { transitions } = buildEnvelope(planDatamesh(seen, [intent]));
    const arrows = transitions[0]?.steps
      .filter((step) => step.from !== step.to)
      .map((step) => `${step.from} → ${step.to}`);
    expect(arrows).toEqual(path.arrows.map((arrow) => `${arrow.from} → ${arrow.to}`));
    await expect(golden(seen, [intent])).toMatchFileSnapshot(file('paths', path.plan));
  });

  test.each(KERNELS)('%s: a lost member is replaced', async (kernel) => {
    const members = membersOf(layoutOf(1, 1));
    const kept = members.slice(0, 2);
    const replicas = [...kept.map((one) => replicaOf(one)), fresh('d4', 'D', 'c')];
    await expect(
      golden(observed(members, { kernel, qmr: 2, configuration: { ftt: 1, gmdr: 1 }, replicas }), null),
    ).toMatchFileSnapshot(file('operations', `${kernel} replacement`));
  });

  test.each(KERNELS)('%s: a node is evacuated, and an attached member stays as a client', async (kernel) => {
    const members = membersOf(layoutOf(1, 0)).map((one) =>
      one.name === 'd1' ? { ...one, attached: true } : one,
    );
    const replicas = [
      ...members.map((one) => replicaOf(one, { deleting: one.name === 'd1' })),
      fresh('d3', 'D', 'a'),
    ];
    await expect(
      golden(observed(members, { kernel, configuration: { ftt: 1 }, replicas }), null),
    ).toMatchFileSnapshot(file('operations', `${kernel} evacuation`));
  });

  test.each(KERNELS)('%s: a Diskful and the tie-breaker swap their zones', async (kernel) => {
    const members = membersOf(layoutOf(1, 0));
    const replicas = [
      ...members.map((one) => replicaOf(one, { deleting: one.name !== 'd1' })),
      fresh('d3', 'D', 'c'),
      fresh('tb2', 'TB', 'b'),
    ];
    await expect(
      golden(
        observed(members, { kernel, configuration: { ftt: 1, topology: 'TransZonal' }, replicas }),
        null,
      ),
    ).toMatchFileSnapshot(file('operations', `${kernel} zone-swap`));
  });

  test.each(KERNELS)('%s: EventuallyLocal brings the data to the node that uses it', async (kernel) => {
    const members = [...membersOf(layoutOf(0, 1)), member('a1', 'A', { attached: true, zone: 'c' })];
    await expect(
      golden(
        observed(members, { kernel, qmr: 2, configuration: { gmdr: 1, volumeAccess: 'EventuallyLocal' } }),
        null,
      ),
    ).toMatchFileSnapshot(file('operations', `${kernel} eventually-local`));
  });

  test('a datamesh is formed', async () => {
    const replicas = [fresh('d1', 'D', 'a'), fresh('d2', 'D', 'b'), fresh('tb1', 'TB', 'c')];
    await expect(golden(observed([], { configuration: { ftt: 1 }, replicas }), null)).toMatchFileSnapshot(
      file('operations', 'formation'),
    );
  });

  test('a member that was left in D∅ goes where its replica wants it, else back', async () => {
    const members = [member('d1', 'D'), member('d2', 'D'), member('d3', 'D∅')];
    const back = observed(members, { configuration: { ftt: 1, gmdr: 1 } });
    const away = observed(members, {
      configuration: { gmdr: 0 },
      replicas: members.map((one) => replicaOf(one, { deleting: one.name === 'd3' })),
    });
    await expect(`${golden(back, null)}\n${golden(away, null)}`).toMatchFileSnapshot(
      file('operations', 'home'),
    );
  });
});
