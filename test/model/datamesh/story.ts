import { at, count, nodesIn } from './bits.ts';
import { EVENTS } from './events.ts';
import type { Exploration } from './explore.ts';
import { BY_TIE, DEAD, Machine } from './machine.ts';
import { Q, QMR, TIES, VOTERS } from './tables.ts';

/** How a state was reached, in words, and who serves in it: a counter-example that a person can follow. */
export function tellStory(found: Exploration, index: number): string {
  const { tables, store } = found;
  const path: number[] = [];
  for (let state = index; state >= 0; state = store.origin(state).parent) path.unshift(state);
  const before = new Machine(tables);
  const after = new Machine(tables);
  const lines = [tables.scenario.name];
  path.forEach((state, step) => {
    store.load(state, after);
    after.derive();
    if (step > 0) {
      const line = tellEvent(before, after, store.origin(state).event);
      lines.push(`${String(step).padStart(3)}. ${line}`);
    }
    store.load(state, before);
    before.derive();
  });
  store.load(index, after);
  after.derive();
  return [...lines, ...tellServing(after), ...tellConfig(after)].join('\n');
}

const nameOf = (machine: Machine, node: number): string => machine.tables.scenario.members[node]?.name ?? '?';
const namesOf = (machine: Machine, mask: number): string =>
  nodesIn(mask)
    .map((node) => nameOf(machine, node))
    .join(', ');

function tellEvent(before: Machine, after: Machine, event: number): string {
  const argument = event >> 3;
  const phase = before.tables.phases[before.phase];
  switch (event & 7) {
    case EVENTS.command: {
      const node = argument >> 1;
      const ladder = phase?.stages[argument & 1]?.ladders[node];
      const width = phase === undefined ? 1 : at(phase.width, node);
      const place = at(before.place, node);
      const rung = (argument & 1) === 0 ? Math.floor(place / width) : place % width;
      return `${nameOf(before, node)} runs ${ladder?.commands[rung] ?? 'a command'}`;
    }
    case EVENTS.advance:
      return `all have confirmed; next: ${after.tables.phases[after.phase]?.stages[argument]?.label ?? ''}`;
    case EVENTS.sync:
      return 'the new disk has synchronised';
    case EVENTS.settle:
      return after.outdated === before.outdated
        ? 'two-phase commits settle who is a member'
        : `two-phase commits outdate ${namesOf(after, after.outdated & ~before.outdated)}`;
    case EVENTS.notice:
      return 'everyone has noticed the cut';
    case EVENTS.force:
      return `${nameOf(before, argument)} is force-removed: ${after.tables.phases[after.phase]?.label ?? ''}`;
    case EVENTS.crash:
      return `${nameOf(before, argument)} crashes`;
    default:
      return tellCut(after);
  }
}

function tellCut(machine: Machine): string {
  if (machine.tables.scenario.network.cuts === 'graphs') {
    const links = Array.from(
      machine.real,
      (mask, node) => `${nameOf(machine, node)}–{${namesOf(machine, mask)}}`,
    );
    return `connections are lost; left: ${links.join(' ')}`;
  }
  const groups = new Map<number, string[]>();
  machine.group.forEach((group, node) => {
    if (group !== DEAD && (machine.alive & (1 << node)) !== 0)
      groups.set(group, [...(groups.get(group) ?? []), nameOf(machine, node)]);
  });
  const unaware =
    machine.unnoticed === 0
      ? ''
      : `; {${(groups.get(machine.unnoticed - 1) ?? []).join(', ')}} has not noticed`;
  return `the network splits: ${[...groups.values()].map((names) => `{${names.join(', ')}}`).join(' | ')}${unaware}`;
}

function tellServing(machine: Machine): readonly string[] {
  if (machine.serving === 0) return ['  ⇒ nobody serves'];
  return nodesIn(machine.serving).map((node) => {
    const bit = 1 << node;
    const seen = at(machine.believed, node);
    const voters = machine.field(node, VOTERS);
    const votes = count(voters & seen) + ((machine.disks & bit) === 0 ? 0 : 1);
    const copies = count((at(machine.real, node) | bit) & machine.upToDate);
    const tie =
      at(machine.how, node) === BY_TIE
        ? ` and breaks the tie with ${namesOf(machine, machine.field(node, TIES) & seen)}`
        : '';
    return `  ⇒ ${nameOf(machine, node)} serves with {${namesOf(machine, at(machine.component, node))}}: ${votes} votes, q=${machine.field(node, Q)}, ${copies} copies, qmr=${machine.field(node, QMR)}${tie}`;
  });
}

function tellConfig(machine: Machine): readonly string[] {
  return nodesIn(machine.alive).flatMap((node) => {
    if (machine.field(node, Q) === 32) return [];
    return [
      `     ${nameOf(machine, node)}: q=${machine.field(node, Q)}, counts voters {${namesOf(machine, machine.field(node, VOTERS))}}, tie-breakers {${namesOf(machine, machine.field(node, TIES))}}`,
    ];
  });
}
