import { beforeAll, describe, expect, test } from 'vitest';
import { GUARDS } from '../../../workflows/datamesh/domain/guards.ts';
import { layoutOf, LAYOUTS } from '../../../workflows/datamesh/domain/layouts.ts';
import { withMember, type Mesh } from '../../../workflows/datamesh/domain/mesh.ts';
import type { Intent } from '../../../workflows/datamesh/domain/observed.ts';
import { planTransition } from '../../../workflows/datamesh/domain/transitions.ts';
import { exploreTracks, meshOn } from './defects.ts';
import { kernelModel } from './kernel-models.ts';
import { Machine } from './machine.ts';
import { survives, tolerance, zoneMask } from './measures.ts';
import { runJob, tellWorst, type JobResult } from './run-job.ts';
import { scenarioOf, trackOf } from './scenes.ts';
import { jobsWithin } from './space.ts';
import { compileScenario } from './tables.ts';
import { blockersOf, judgeLayouts } from './verdicts.ts';

const remove = (member: string): Intent => ({ op: 'RemoveMember', member });
const stale = (mesh: Mesh, name: string): Mesh => ({
  ...mesh,
  members: mesh.members.map((one) => (one.name === name ? { ...one, upToDate: false } : one)),
});

/** A machine in which a mesh is at rest. */
function resting(mesh: Mesh): Machine {
  const rest = { label: 'rest', member: null, steps: [] };
  const machine = new Machine(
    compileScenario(
      scenarioOf(kernelModel('vanilla'), mesh, [rest], {
        cuts: 'partitions',
        unnoticed: false,
        crash: false,
      }),
    ),
  );
  machine.start();
  return machine;
}

describe('removing a guard breaks an invariant', () => {
  test.each<[string, Mesh, Intent, ReturnType<typeof layoutOf>, RegExp]>([
    ['QMRReady', meshOn('vanilla', { D: 2 }, 2), remove('d2'), layoutOf(0, 0), /stops serving/u],
    ['FTT-BDL', stale(meshOn('vanilla', { D: 3 }, 2), 'd2'), remove('d3'), layoutOf(0, 1), /stops serving/u],
    [
      'FTT-BUA',
      meshOn('vanilla', { D: 3 }, 2),
      remove('d3'),
      layoutOf(1, 1),
      /survives 0 failures, promised 1/u,
    ],
    [
      'TBReady',
      meshOn('vanilla', { D: 3 }, 1),
      remove('d3'),
      layoutOf(1, 0),
      /survives 0 failures, promised 1/u,
    ],
    [
      'TBRequired',
      meshOn('vanilla', { D: 2, TB: 1 }, 1),
      remove('t1'),
      layoutOf(1, 0),
      /survives 0 failures, promised 1/u,
    ],
    [
      'TBRequired',
      meshOn('flant', { D: 2, TB: 1 }, 1),
      { op: 'ChangeMemberType', member: 't1', from: 'TB', to: 'D' },
      layoutOf(1, 1),
      /survives 0 failures, promised 1/u,
    ],
    [
      'TBRedundancy',
      meshOn('vanilla', { D: 2 }, 2),
      { op: 'AddMember', member: 'new', type: 'TB', node: 'new', zone: 'z' },
      layoutOf(0, 1),
      /acknowledged with 1 copies, promised 2/u,
    ],
  ])('%s', (guard, mesh, intent, layout, broken) => {
    expect(blockersOf(mesh, intent, layout)).toEqual([guard]);
    expect(blockersOf(mesh, intent, layout, [guard])).toEqual([]);
    const kernel = mesh.kernel;
    const found = exploreTracks(kernel, mesh, [trackOf(mesh, intent)]);
    const verdict = judgeLayouts(
      kernelModel(kernel),
      mesh,
      intent,
      found.measures,
      tolerance(resting(mesh)).done,
    ).find((one) => one.layout === layout.name);
    expect(verdict?.broken.join('; ')).toMatch(broken);
    expect(tellWorst(found, verdict?.broken ?? [])).toContain('⇒');
  });

  test('NotAttached and VolumeAccessLocal: the node that serves is left without its resource, or without its disk', () => {
    const mesh = meshOn('vanilla', { D: 2 }, 1);
    const gone = exploreTracks('vanilla', mesh, [trackOf(mesh, remove('d2'))]);
    const end = new Machine(gone.tables);
    gone.store.load(gone.measures.ended, end);
    end.derive();
    expect(end.alive & 2).toBe(0);
    const demoted = exploreTracks('vanilla', mesh, [
      trackOf(mesh, { op: 'ChangeMemberType', member: 'd2', from: 'D', to: 'A' }),
    ]);
    const last = new Machine(demoted.tables);
    demoted.store.load(demoted.measures.ended, last);
    last.derive();
    expect([last.alive & 2, last.disks & 2]).toEqual([2, 0]);
  });
});

describe('what guards refuse although it is safe', () => {
  // They ask for the layout that is wanted: what leads away from it is refused although it breaks nothing yet. And ties
  // that are broken with fewer copies than qmr are no loss for a layout that promises fewer.
  const documented = new Set(['FTT-BDL', 'FTT-BUA', 'QMRReady', 'TBRequired', 'TBRedundancy']);
  const bounds = { diskful: 3, others: 1, nodes: 4, smallDiskful: 0, smallOthers: 0 };
  let results: readonly JobResult[] = [];
  beforeAll(() => {
    results = jobsWithin(bounds, ['vanilla'])
      .filter((job) => job.counts.A === 0 && job.intents.length === 1 && job.excess === 0)
      .map((job) => runJob(job));
  }, 120_000);

  test('is refused by guards that ask for the target, and by no other', () => {
    const refusing = results.flatMap((one) =>
      one.needless.flatMap((text) => text.slice(0, text.indexOf(' ')).split('+')),
    );
    expect([...new Set(refusing)].filter((name) => !documented.has(name))).toEqual([]);
    expect(refusing.length).toBeGreaterThan(0);
  });

  test('while each of them is somewhere the only one to refuse what breaks an invariant', () => {
    const alone = new Set(results.flatMap((one) => one.justified));
    for (const name of ['FTT-BUA', 'QMRReady', 'TBReady', 'TBRequired', 'TBRedundancy'])
      expect([...alone]).toContain(name);
  });
});

/** Every way to put so many members into three zones, the first member always in the first. */
function placements(mesh: Mesh): readonly Mesh[] {
  const total = 3 ** (mesh.members.length - 1);
  return Array.from({ length: total }, (_, code) => ({
    ...mesh,
    members: mesh.members.map((one, at) => ({
      ...one,
      zone: 'abc'[at === 0 ? 0 : Math.floor(code / 3 ** (at - 1)) % 3] ?? 'a',
    })),
  }));
}

describe('the zone guards agree with the model in every placement', () => {
  const scenes = [
    [3, 0],
    [3, 1],
    [4, 0],
    [4, 1],
    [3, 2],
    [5, 0],
  ] as const;

  test('a removal that passes leaves a mesh that survives the loss of any zone; one that only they refuse does not', () => {
    const alone: Record<string, number> = {};
    const wrong: string[] = [];
    for (const [D, TB] of scenes)
      for (const layout of LAYOUTS.filter((one) => one.ftt > 0 && one.diskful < D))
        for (const placed of placements(meshOn('vanilla', { D, TB }, layout.qmr))) {
          const mesh: Mesh = {
            ...placed,
            configuration: {
              ...placed.configuration,
              ftt: layout.ftt,
              gmdr: layout.gmdr,
              topology: 'TransZonal',
            },
          };
          const subject = mesh.members.findLast((one) => one.type === 'D');
          if (subject === undefined) continue;
          const blockers = blockersOf(mesh, remove(subject.name), layout);
          const after = planTransition(mesh, remove(subject.name)).mesh;
          const machine = resting(after);
          const zones = [...new Set(after.members.map((one) => one.zone))];
          const survived = zones.every(
            (zone) => (survives(machine, zoneMask(machine.tables, zone)) & 1) !== 0,
          );
          const zonal = blockers.every((name) => name.startsWith('Zone'));
          if (zonal && survived !== (blockers.length === 0)) wrong.push(JSON.stringify(mesh.members));
          if (blockers.length === 1 && zonal) alone[blockers[0] ?? ''] = (alone[blockers[0] ?? ''] ?? 0) + 1;
        }
    expect(wrong).toEqual([]);
    expect(alone['ZoneFTT-BUA']).toBeGreaterThan(0);
  });

  test('ZoneFTT-BDL alone refuses where copies are too few though votes are enough', () => {
    const mesh = stale(meshOn('vanilla', { D: 4 }, 2), 'd2');
    const zoned = {
      ...mesh,
      members: mesh.members.map((one, at) => ({ ...one, zone: 'abcc'[at] ?? 'a' })),
      configuration: { ...mesh.configuration, ftt: 1, gmdr: 1, topology: 'TransZonal' as const },
    };
    expect(blockersOf(zoned, remove('d4'), layoutOf(1, 1))).toEqual(['ZoneFTT-BDL']);
    const after = withMember(zoned, { ...zoned.members[3], name: 'd4' } as Mesh['members'][number], '✕');
    const machine = resting({ ...after, q: 2 });
    expect(survives(machine, zoneMask(machine.tables, 'a')) & 1).toBe(0);
  });

  test('ZoneTBRequired refuses exactly the tie-breaker whose going costs a zone', () => {
    const mesh = meshOn('vanilla', { D: 2, TB: 3 }, 1);
    let refused = 0;
    for (const placed of placements(mesh)) {
      const zoned: Mesh = {
        ...placed,
        configuration: { ...placed.configuration, ftt: 1, gmdr: 0, topology: 'TransZonal' },
      };
      const blockers = blockersOf(zoned, remove('t3'), layoutOf(1, 0));
      const lossesOf = (one: Mesh): Readonly<Record<string, boolean>> => {
        const machine = resting(one);
        return Object.fromEntries(
          ['a', 'b', 'c'].map((zone) => [
            zone,
            (survives(machine, zoneMask(machine.tables, zone)) & 1) !== 0,
          ]),
        );
      };
      const [now, then] = [lossesOf(zoned), lossesOf(planTransition(zoned, remove('t3')).mesh)];
      const costs = ['a', 'b', 'c'].some((zone) => now[zone] === true && then[zone] === false);
      expect(blockers.includes('ZoneTBRequired')).toBe(costs);
      refused += blockers.length;
    }
    expect(refused).toBeGreaterThan(0);
  });

  test('every guard has its case here or among the defects', () => {
    const shown = [
      'NotAttached',
      'VolumeAccessLocal',
      'QMRReady',
      'FTT-BDL',
      'FTT-BUA',
      'TBReady',
      'TBRequired',
      'TBRedundancy',
      'ZoneFTT-BDL',
      'ZoneFTT-BUA',
      'ZoneTBRequired',
      'LastCopy',
      'NotConnected',
    ];
    expect([...new Set(GUARDS.map((guard) => guard.name))].sort()).toEqual([...shown].sort());
  });
});
