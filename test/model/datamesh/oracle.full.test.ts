import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LAYOUT_EDGES, LAYOUTS } from '../../../workflows/datamesh/domain/layouts.ts';
import { meshOf, presentedMesh } from '../../../workflows/datamesh/domain/mesh.ts';
import { buildCommands, type NodeCommand } from '../../../workflows/datamesh/domain/node-commands.ts';
import { buildConfigs } from '../../../workflows/datamesh/domain/node-config.ts';
import { planDatamesh } from '../../../workflows/datamesh/domain/plan.ts';
import { moving } from '../../domain/datamesh/meshes.ts';
import { renderConf, renderShow, type Ids } from './drbd-conf.ts';
import { adjust, fetchDrbdUtils } from './drbdadm.ts';
import { ABSENT, restingNode, runCommand, type ModelNode } from './node-model.ts';

let program = '';
let folder = '';
beforeAll(() => {
  program = fetchDrbdUtils();
  folder = mkdtempSync(join(tmpdir(), 'drbd-oracle-'));
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const idsOf = (names: readonly string[]): Ids => Object.fromEntries(names.map((name, at) => [name, at]));

/**
 * What both do, in one spelling. A peer that goes is hidden, unmapped, disconnected and forgotten only by us: drbdadm deletes
 * it, and the rest is what the model asks for.
 */
function ours(commands: readonly NodeCommand[], ids: Ids): readonly string[] {
  const gone = new Set(commands.flatMap((one) => (one.do === 'del-peer' ? [one.peer] : [])));
  const fresh = new Set(commands.flatMap((one) => (one.do === 'new-peer' ? [one.peer] : [])));
  return commands.flatMap((command): readonly string[] => {
    const id = 'peer' in command ? ids[command.peer] : 0;
    if ('peer' in command && gone.has(command.peer))
      return command.do === 'del-peer' ? [`del-peer ${id}`] : [];
    switch (command.do) {
      case 'new-peer':
      case 'new-path':
      case 'connect':
        return [`${command.do} ${id}`];
      case 'bitmap':
        // A new peer has a bitmap unless told otherwise.
        return command.keep && fresh.has(command.peer) ? [] : [`bitmap=${command.keep ? 'yes' : 'no'} ${id}`];
      case 'remote-read':
        return [`net-options ${id}`];
      case 'quorum':
        return [`quorum=${command.q},${command.qmr}`];
      case 'attach':
      case 'detach':
        return [command.do];
      default:
        return [];
    }
  });
}

function theirs(line: string): readonly string[] {
  const peer = /^(new-peer|new-path|connect|del-peer|net-options) vol (\d+)/u.exec(line);
  if (peer !== null) return [`${peer[1]} ${peer[2]}`];
  const bitmap = /^peer-device-options vol (\d+)/u.exec(line);
  if (bitmap !== null) return [`bitmap=${line.includes('--bitmap=no') ? 'no' : 'yes'} ${bitmap[1]}`];
  const quorum = /^resource-options vol .*--quorum=(\d+) .*redundancy=(\d+)/u.exec(line);
  if (quorum !== null) return [`quorum=${quorum[1]},${quorum[2]}`];
  const disk = /^(attach|detach)\b/u.exec(line);
  return disk === null ? [] : [disk[1] ?? ''];
}

const ofPeer = (lines: readonly string[], id: number): readonly string[] =>
  lines.filter((line) => line.endsWith(` ${id}`));
/** A new peer's options are set at birth by us and after it by drbdadm: the same command twice is none. */
const isCreated = (lines: readonly string[], line: string): boolean =>
  line.startsWith('net-options') && lines.includes(line.replace('net-options', 'new-peer'));

/** The one order in which we differ: a peer that begins to be seen gets its bitmap first, or it counts as a tie-breaker. */
const shownLast = (lines: readonly string[], id: number): readonly string[] =>
  lines.join() === `net-options ${id},bitmap=yes ${id}` ? lines.toReversed() : lines;

/** Both do the same, and to each peer in the same order; which of q and the peers is first, drbdadm cannot judge. */
function expectAlike(
  before: ModelNode | null,
  after: ModelNode,
  commands: readonly NodeCommand[],
  ids: Ids,
): void {
  const show = before === null ? null : renderShow(before, ids);
  const drbdadm = adjust(program, folder, renderConf(after, ids), show).flatMap(theirs);
  const judged = drbdadm.filter((line) => !isCreated(drbdadm, line));
  const mine = ours(commands, ids).filter((line) => before !== null || !line.startsWith('quorum='));
  const asked = judged.filter((line) => before !== null || !line.startsWith('quorum='));
  expect(mine.toSorted()).toEqual(asked.toSorted());
  for (const id of Object.values(ids)) expect(ofPeer(mine, id)).toEqual(shownLast(ofPeer(asked, id), id));
}

describe('drbdadm itself', () => {
  test.each(LAYOUTS.map((layout) => [layout.name, layout] as const))(
    'would configure a node of %s from nothing as we do, its disk before its connections',
    (_name, layout) => {
      const mesh = meshOf(moving(layout, layout, 'vanilla'));
      const ids = idsOf(mesh.members.map((one) => one.name));
      const config = buildConfigs(presentedMesh(mesh))['d1'];
      const commands = buildCommands(null, config ?? null, 'visibility-first');
      expectAlike(null, restingNode(config), commands, ids);
      const order = ours(commands, ids);
      const connects = order.findIndex((line) => line.startsWith('connect'));
      expect(connects < 0 || order.indexOf('attach') < connects).toBe(true);
    },
  );

  const edges = LAYOUT_EDGES.flatMap(({ lower, upper }) => [
    [lower, upper] as const,
    [upper, lower] as const,
  ]);
  test.each(edges.map(([from, to]) => [from.name, to.name, from, to] as const))(
    'would run on d1 what each step from %s to %s runs, for each peer in the same order',
    { timeout: 120_000 },
    (_from, _to, from, to) => {
      const plan = planDatamesh(moving(from, to, 'vanilla'), null);
      const steps = plan.transitions.flatMap((one) => one.steps);
      const ids = idsOf([
        ...new Set([
          'd1',
          ...plan.observed.members.map((one) => one.name),
          ...steps.flatMap((step) => step.confirm),
        ]),
      ]);
      let node = restingNode(buildConfigs(presentedMesh(meshOf(plan.observed)))['d1']);
      expect(steps.some((step) => step.actions['d1'] !== undefined)).toBe(true);
      for (const step of steps) {
        const commands = step.actions['d1'] ?? [];
        const after = commands.reduce(runCommand, node);
        if (after !== ABSENT) expectAlike(node, after, commands, ids);
        node = after;
      }
    },
  );
});
