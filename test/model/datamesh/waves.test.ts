import { describe, expect, test } from 'vitest';
import { memberOf, type Mesh } from '../../../workflows/datamesh/domain/mesh.ts';
import type { NodeCommand } from '../../../workflows/datamesh/domain/node-commands.ts';
import type { Intent } from '../../../workflows/datamesh/domain/observed.ts';
import type { PlannedStep } from '../../../workflows/datamesh/domain/steps.ts';
import { exploreTracks, meshOn, withoutWaves } from './defects.ts';
import type { Measures } from './measures.ts';
import type { Track } from './scenario.ts';
import { trackOf } from './scenes.ts';
import { tellStory } from './story.ts';

const addD: Intent = { op: 'AddMember', member: 'new', type: 'D', node: 'new', zone: 'z' };
const remove = (member: string): Intent => ({ op: 'RemoveMember', member });
/** The plan with its steps changed; what follows a loss is left out, for it would not fit them. */
const changed = (
  mesh: Mesh,
  intent: Intent,
  change: (steps: readonly PlannedStep[]) => readonly PlannedStep[],
): Track => {
  const { label, member, steps } = trackOf(mesh, intent);
  return { label, member, steps: change(steps) };
};
const measuresOf = (kernel: string, mesh: Mesh, track: Track): Measures =>
  exploreTracks(kernel, mesh, [track]).measures;

describe('what keeps a change of votes safe is needed', { timeout: 120_000 }, () => {
  test('q rolls from node to node: at once, two nodes between q and the voter that it is for lose FTT', () => {
    for (const [mesh, intent] of [
      [meshOn('vanilla', { D: 3 }, 2), addD],
      [meshOn('vanilla', { D: 4 }, 2), remove('d4')],
    ] as const) {
      const atOnce = changed(mesh, intent, (steps) => steps.map((step) => ({ ...step, rolling: false })));
      expect(measuresOf('vanilla', mesh, atOnce).ftt).toBe(0);
      expect(measuresOf('vanilla', mesh, trackOf(mesh, intent)).ftt).toBe(1);
    }
  });

  test('beside two tie-breakers one is hidden, or both outvote the vestibule', () => {
    const mesh = meshOn('vanilla', { D: 2, TB: 2 }, 1);
    const shown = changed(mesh, addD, (steps) =>
      steps.filter(
        (step) => !step.reason.includes('one tie-breaker is enough') && !step.reason.includes('t2 may'),
      ),
    );
    const found = exploreTracks('vanilla', mesh, [shown], {}, { stopAtSplit: true });
    expect(tellStory(found, found.measures.splitBrain)).toContain('breaks the tie with t1, t2');
    expect(measuresOf('vanilla', mesh, trackOf(mesh, addD))).toMatchObject({ splitBrain: -1, ftt: 1 });
  });

  test('beside two tie-breakers one is hidden while a voter becomes the third, or both outvote it', () => {
    const mesh = meshOn('flant', { D: 3, TB: 2 }, 1);
    const toTb: Intent = { op: 'ChangeMemberType', member: 'd3', from: 'D', to: 'TB' };
    const steps = withoutWaves(mesh, memberOf(mesh, 'd3'), toTb);
    const shown = { label: 'both are shown', member: 'd3', steps };
    const found = exploreTracks('flant', mesh, [shown], {}, { stopAtSplit: true });
    expect(tellStory(found, found.measures.splitBrain)).toContain('breaks the tie with t1, t2');
    expect(measuresOf('flant', mesh, trackOf(mesh, toTb))).toMatchObject({ splitBrain: -1, ftt: 1 });
  });

  test('ties stay unbroken until the new voter has its copy, or one is broken with fewer than qmr', () => {
    const mesh = meshOn('vanilla', { D: 3, TB: 1 }, 2);
    const early = changed(mesh, addD, (steps) => {
      const [attach, show] = steps.slice(-2);
      return attach === undefined || show === undefined ? [] : [...steps.slice(0, -2), show, attach];
    });
    expect(measuresOf('vanilla', mesh, early).copiesByTie).toBe(1);
    expect(measuresOf('vanilla', mesh, trackOf(mesh, addD)).copiesByTie).toBeGreaterThan(1);
  });

  test('a member that is lost in the vestibule stops the plan for ever, unless the others can retreat', () => {
    const mesh = meshOn('vanilla', { D: 2, TB: 1 }, 1);
    const whole = trackOf(mesh, addD);
    const stubborn: Track = {
      ...whole,
      afterForceRemove: (done, lost) =>
        whole.steps[done - 1]?.safePoint === false ? null : (whole.afterForceRemove?.(done, lost) ?? null),
    };
    expect(measuresOf('vanilla', mesh, stubborn).stuck).toBeGreaterThan(0);
    expect(measuresOf('vanilla', mesh, whole)).toMatchObject({ stuck: -1, splitBrain: -1 });
  });
});

describe('the one moment in which FTT is lower', () => {
  const mesh = meshOn('vanilla', { D: 2, TB: 1, A: 1 }, 1);
  const hide: NodeCommand = { do: 'remote-read', peer: 'a1', allow: false };

  test('is between del-peer and forget-peer, and nowhere else', () => {
    const found = exploreTracks('vanilla', mesh, [trackOf(mesh, remove('a1'))]);
    expect(found.measures).toMatchObject({ ftt: 1, fttUnforgotten: 0 });
    expect(tellStory(found, found.measures.fttUnforgottenAt)).toContain('del-peer a1');
  });

  // forget-peer refuses a peer that is configured, and del-peer one that is connected: only hiding can move.
  test.each([0, 1, 2])(
    'is there wherever the peer is hidden before, %i commands into its removal',
    (position) => {
      const moved = changed(mesh, remove('a1'), (steps) =>
        steps.map((step) => ({
          ...step,
          actions: Object.fromEntries(
            Object.entries(step.actions).map(([name, commands]) => [
              name,
              commands.some((command) => command.do === 'del-peer')
                ? commands.toSpliced(position, 0, hide)
                : commands,
            ]),
          ),
        })),
      );
      expect(measuresOf('vanilla', mesh, moved).fttUnforgotten).toBe(0);
    },
  );
});
