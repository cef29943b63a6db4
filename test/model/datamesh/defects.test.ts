import { describe, expect, test } from 'vitest';
import { planTransition } from '../../../workflows/datamesh/domain/transitions.ts';
import { memberOf, type Mesh } from '../../../workflows/datamesh/domain/mesh.ts';
import type { Intent, Member } from '../../../workflows/datamesh/domain/observed.ts';
import { at } from './bits.ts';
import {
  blindQuorum,
  exploreTracks,
  findState,
  meshOn,
  PARTITIONS,
  reordered,
  withoutWaves,
} from './defects.ts';
import { survives, zoneMask } from './measures.ts';
import { DEAD, Machine } from './machine.ts';
import type { Track } from './scenario.ts';
import { trackOf } from './scenes.ts';
import { tellStory } from './story.ts';

const add = (type: 'A' | 'TB' | 'D', member = 'new'): Intent => ({
  op: 'AddMember',
  member,
  type,
  node: member,
  zone: 'z',
});
const remove = (member: string): Intent => ({ op: 'RemoveMember', member });
const newcomer: Member = { name: 'new', type: '✦', node: 'new', zone: 'z', upToDate: false, attached: false };
const asTrack = (mesh: Mesh, intent: Intent, steps: Track['steps']): Track => ({
  ...trackOf(mesh, intent),
  steps,
});

describe('the checker finds the known defects', () => {
  test('2: without waiting for UpToDate, raising qmr stops 1D → 2D for the whole resync', () => {
    const mesh = meshOn('vanilla', { D: 1 }, 1);
    const grown = planTransition(mesh, add('D'));
    const raised = planTransition(grown.mesh, { op: 'ChangeQuorum', q: 2, qmr: 2 });
    const track = { label: 'Add(D)+qmr↑', member: 'new', steps: [...grown.steps, ...raised.steps] };
    const hasty = exploreTracks('vanilla', mesh, [{ ...track, waitsForData: false }]);
    const stopped = findState(hasty, (machine) => machine.cut + machine.crashed + machine.serving === 0);
    expect(tellStory(hasty, stopped)).toMatch(/redundancy=2[^]*⇒ nobody serves/u);
    expect(exploreTracks('vanilla', mesh, [track]).measures.interrupted).toBe(-1);
  });

  test('3: counting q down blindly after a ForceRemove lets both halves of two voters serve', () => {
    const mesh = meshOn('vanilla', { D: 4 }, 1);
    const blind = exploreTracks(
      'vanilla',
      mesh,
      [blindQuorum(mesh, remove('d4'), 1)],
      {},
      { stopAtSplit: true },
    );
    const story = tellStory(blind, blind.measures.splitBrain);
    expect(story).toContain('is force-removed');
    expect(story).toContain('--quorum=1');
    expect(exploreTracks('vanilla', mesh, [trackOf(mesh, remove('d4'))]).measures.splitBrain).toBe(-1);
  });

  test('4: a removal that goes on unguarded after a node has died drops the last copy', () => {
    const mesh = meshOn('vanilla', { D: 2 }, 1);
    const dataless = (machine: Machine): boolean =>
      machine.disks === 0 &&
      machine.tables.phases[machine.phase]?.lost === 0 &&
      machine.tables.phases[machine.phase]?.stages[0]?.next === null &&
      at(machine.group, 1) !== DEAD;
    const unguarded = exploreTracks('vanilla', mesh, [
      trackOf(mesh, remove('d2'), ['LastCopy', 'FTT-BDL', 'FTT-BUA', 'QMRReady']),
    ]);
    const lost = findState(unguarded, dataless);
    expect(tellStory(unguarded, lost)).toContain('d1 is force-removed');
    expect(findState(exploreTracks('vanilla', mesh, [trackOf(mesh, remove('d2'))]), dataless)).toBe(-1);
  });

  test('5: the wrong order of commands on the node lets two halves serve, each in its direction', () => {
    const four = meshOn('vanilla', { D: 4 }, 1);
    const lowering = exploreTracks(
      'vanilla',
      four,
      [asTrack(four, remove('d4'), reordered(planTransition(four, remove('d4')).steps, true))],
      {},
      { stopAtSplit: true },
    );
    expect(tellStory(lowering, lowering.measures.splitBrain)).toMatch(/--quorum=2[^]*splits/u);
    const three = meshOn('vanilla', { D: 3 }, 1);
    const raising = exploreTracks(
      'vanilla',
      three,
      [asTrack(three, add('D'), reordered(planTransition(three, add('D')).steps, false))],
      {},
      { stopAtSplit: true },
    );
    expect(tellStory(raising, raising.measures.splitBrain)).toMatch(/allow-remote-read=yes[^]*splits/u);
    expect(exploreTracks('vanilla', three, [trackOf(three, add('D'))]).measures.splitBrain).toBe(-1);
  });

  test('5: between one voter and two the order is the reverse, or serving stops although nothing failed', () => {
    const mesh = meshOn('vanilla', { D: 1 }, 1);
    const first = exploreTracks('vanilla', mesh, [
      asTrack(mesh, add('D'), reordered(planTransition(mesh, add('D')).steps, true)),
    ]);
    expect(first.measures.interrupted).toBeGreaterThan(0);
    expect(exploreTracks('vanilla', mesh, [trackOf(mesh, add('D'))]).measures.interrupted).toBe(-1);
  });

  test.each([
    ['3D+1TB that loses 2 D', { D: 3, TB: 1 }, ['d1', 'd2']],
    ['2D+2TB that loses D and TB', { D: 2, TB: 2 }, ['d1', 't1']],
  ] as const)(
    '6: %s has no quorum, though the specification’s zone formula says so',
    (_name, counts, lost) => {
      const start = meshOn('vanilla', counts, 1);
      const mesh = {
        ...start,
        members: start.members.map((one) => ({
          ...one,
          zone: lost.some((name) => name === one.name) ? 'lost' : 'kept',
        })),
      };
      const found = exploreTracks(
        'vanilla',
        mesh,
        [{ label: 'rest', member: null, steps: [] }],
        { network: { ...PARTITIONS, crash: false } },
        { maxStates: 1 },
      );
      const machine = new Machine(found.tables);
      machine.start();
      expect(survives(machine, zoneMask(found.tables, 'lost')) & 1).toBe(0);
      const left = start.members.filter(
        (one) => one.type === 'D' && !lost.some((name) => name === one.name),
      ).length;
      expect(left === mesh.q - 1 || left >= mesh.q).toBe(true);
    },
  );

  test('7: TB → D on 2D+1TB is harmless: no two writers, and every single loss is survived in every mixed state', () => {
    const mesh = meshOn('vanilla', { D: 2, TB: 1 }, 1);
    const found = exploreTracks('vanilla', mesh, [
      trackOf(mesh, { op: 'ChangeMemberType', member: 't1', from: 'TB', to: 'D' }),
    ]);
    expect(found.measures).toMatchObject({ splitBrain: -1, ftt: 1, stuck: -1, interrupted: -1 });
    expect(tellStory(found, found.measures.ended)).toContain('the new disk has synchronised');
  });

  test('9: a ForceRemove that cancels before its guards are asked strands the member in D∅', () => {
    const mesh = meshOn('vanilla', { D: 3 }, 1);
    const planned = planTransition(mesh, remove('d3'));
    const cancelled = exploreTracks('vanilla', mesh, [
      { label: 'cancelled by a blocked ForceRemove', member: 'd3', steps: planned.steps.slice(0, 1) },
    ]);
    expect(cancelled.measures.stranded).toBeGreaterThan(0);
    expect(exploreTracks('vanilla', mesh, [trackOf(mesh, remove('d3'))]).measures.stranded).toBe(-1);
  });
});

describe('what the specification’s own arrows need', () => {
  test('AddMember(D) on 2D+1TB without the vestibule: one voter breaks the tie while another counts the newcomer', () => {
    const mesh = meshOn('vanilla', { D: 2, TB: 1 }, 1);
    const found = exploreTracks(
      'vanilla',
      mesh,
      [asTrack(mesh, add('D'), withoutWaves(mesh, newcomer, add('D')))],
      {},
      { stopAtSplit: true },
    );
    expect(tellStory(found, found.measures.splitBrain)).toMatch(/breaks the tie with t1/u);
    expect(exploreTracks('vanilla', mesh, [trackOf(mesh, add('D'))]).measures).toMatchObject({
      splitBrain: -1,
      ftt: 1,
    });
  });

  test('RemoveMember(D) on 3D+1TB without the vestibule, and with a q change without the pause', () => {
    for (const D of [3, 4]) {
      const mesh = meshOn('vanilla', { D, TB: 1 }, 1);
      const subject = memberOf(mesh, `d${D}`);
      const found = exploreTracks(
        'vanilla',
        mesh,
        [asTrack(mesh, remove(subject.name), withoutWaves(mesh, subject, remove(subject.name)))],
        {},
        { stopAtSplit: true },
      );
      expect(found.measures.splitBrain).toBeGreaterThan(0);
    }
    const mesh = meshOn('vanilla', { D: 3, TB: 1 }, 1);
    expect(
      exploreTracks('vanilla', mesh, [trackOf(mesh, remove('d3'))], {}, { withoutFtt: true }).measures
        .splitBrain,
    ).toBe(-1);
  });

  test('two tie-breakers that change at once let two halves break the tie', () => {
    const mesh = meshOn('vanilla', { D: 2, TB: 1 }, 1);
    const found = exploreTracks(
      'vanilla',
      mesh,
      [trackOf(mesh, add('TB')), trackOf(mesh, remove('t1'))],
      { network: { ...PARTITIONS, crash: false } },
      { stopAtSplit: true },
    );
    expect(tellStory(found, found.measures.splitBrain)).toMatch(
      /tie with new[^]*tie with t1|tie with t1[^]*tie with new/u,
    );
  });

  test('a ForceRemove of a member that is still seen lets the one that is left serve beside it', () => {
    const mesh = meshOn('vanilla', { D: 2, TB: 1 }, 1);
    const found = exploreTracks(
      'vanilla',
      mesh,
      [trackOf(mesh, add('A'))],
      { forceRemoveConnected: true },
      { stopAtSplit: true },
    );
    expect(tellStory(found, found.measures.splitBrain)).toContain('is force-removed');
    expect(exploreTracks('vanilla', mesh, [trackOf(mesh, add('A'))]).measures.splitBrain).toBe(-1);
  });

  test('where two disks see each other only through a tie-breaker, two-phase commits outdate the one that does not serve', () => {
    const mesh = meshOn('vanilla', { D: 2, TB: 1 }, 1);
    const both = (machine: Machine): boolean =>
      machine.settled !== 0 &&
      (machine.serving & 3) === 3 &&
      (at(machine.real, 0) & 2) === 0 &&
      at(machine.component, 0) === at(machine.component, 1);
    const graphs = { network: { cuts: 'graphs', unnoticed: false, crash: false }, primary: 'd1' } as const;
    const rest: Track = { label: 'rest', member: null, steps: [] };
    expect(findState(exploreTracks('vanilla', mesh, [rest], graphs), both)).toBe(-1);
    expect(
      findState(exploreTracks('vanilla', mesh, [rest], { ...graphs, withoutOutdating: true }), both),
    ).toBeGreaterThan(0);
  });

  test('numeric q and dynamic voters: a vanilla 2D+1TB that lost a disk loses quorum once membership has settled; flant does not', () => {
    const settledFtt = (kernel: string): number => {
      const mesh = meshOn(kernel, { D: 2, TB: 1 }, 1);
      return exploreTracks(kernel, mesh, [trackOf(mesh, add('A'))]).measures.fttSettled;
    };
    expect([settledFtt('vanilla'), settledFtt('flant')]).toEqual([0, 1]);
  });
});
