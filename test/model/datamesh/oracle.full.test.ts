import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildCommands, type NodeCommand } from '../../../workflows/datamesh/domain/node-commands.ts';
import { buildConfigs } from '../../../workflows/datamesh/domain/node-config.ts';
import { LAYOUTS, type Layout } from '../../../workflows/datamesh/domain/layouts.ts';
import { presentedMesh } from '../../../workflows/datamesh/domain/mesh.ts';
import { adjustFromNothing, fetchDrbdUtils } from './drbdadm.ts';
import { meshOn } from './defects.ts';

let program = '';
let folder = '';
beforeAll(() => {
  program = fetchDrbdUtils();
  folder = mkdtempSync(join(tmpdir(), 'drbd-oracle-'));
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const meshOf = (layout: Layout): ReturnType<typeof meshOn> =>
  meshOn('vanilla', { D: layout.diskful, TB: layout.tiebreakers }, layout.qmr);

function configurationOf(layout: Layout): string {
  const { members, q, qmr } = meshOf(layout);
  const hosts = members.map(
    (one, at) =>
      `  on ${one.name} { node-id ${at}; address 127.0.0.1:${7000 + at}; volume 0 { device minor 1; disk ${one.type === 'D' ? '/dev/null' : 'none'}; meta-disk internal; } }`,
  );
  return [
    'resource vol {',
    `  options { quorum ${q}; quorum-minimum-redundancy ${qmr}; }`,
    ...hosts,
    `  connection-mesh { hosts ${members.map((one) => one.name).join(' ')}; }`,
    '}',
  ].join('\n');
}

/** What both do, in one spelling; options that equal their defaults are left out, as drbdadm does. */
const ours = (command: NodeCommand, ids: Readonly<Record<string, number>>): readonly string[] => {
  const id = 'peer' in command ? ids[command.peer] : 0;
  if (command.do === 'new-peer' || command.do === 'new-path' || command.do === 'connect')
    return [`${command.do} ${id}`];
  if (command.do === 'bitmap') return command.keep ? [] : [`bitmap=no ${id}`];
  return command.do === 'attach' ? ['attach'] : [];
};
const theirs = (line: string): readonly string[] => {
  const peer = /^(new-peer|new-path|connect) vol (\d+)/u.exec(line);
  if (peer !== null) return [`${peer[1]} ${peer[2]}`];
  const bitmap = /^peer-device-options vol (\d+) .*--bitmap=no/u.exec(line);
  if (bitmap !== null) return [`bitmap=no ${bitmap[1]}`];
  return line.startsWith('attach') ? ['attach'] : [];
};

test.each(LAYOUTS.map((layout) => [layout.name, layout] as const))(
  'a node of %s is configured in an order that drbdadm itself would use',
  (_name, layout) => {
    const mesh = meshOf(layout);
    const ids = Object.fromEntries(mesh.members.map((one, at) => [one.name, at]));
    const config = buildConfigs(presentedMesh(mesh))['d1'] ?? null;
    const mine = buildCommands(null, config, 'visibility-first').flatMap((command) => ours(command, ids));
    const drbdadm = adjustFromNothing(program, configurationOf(layout), folder).flatMap(theirs);
    expect([...mine].sort()).toEqual([...drbdadm].sort());
    // drbdadm batches by kind and we by peer; what must hold is the order of each peer's own commands, and the disk before them.
    for (const id of Object.values(ids)) {
      const of = (lines: readonly string[]): readonly string[] =>
        lines.filter((line) => line.endsWith(` ${id}`));
      expect(of(mine)).toEqual(of(drbdadm));
    }
    const lastBeforeConnect = (lines: readonly string[]): boolean =>
      lines.indexOf('attach') < lines.findIndex((line) => line.startsWith('connect')) ||
      !lines.some((line) => line.startsWith('connect'));
    expect([lastBeforeConnect(mine), lastBeforeConnect(drbdadm)]).toEqual([true, true]);
  },
);
