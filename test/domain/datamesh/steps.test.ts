import { describe, expect, test } from 'vitest';
import { buildEnvelope } from '../../../workflows/datamesh/domain/envelope.ts';
import type { Kernel } from '../../../workflows/datamesh/domain/kernels.ts';
import { KERNELS } from '../../../workflows/datamesh/domain/kernels.ts';
import type { MemberType } from '../../../workflows/datamesh/domain/member-states.ts';
import type { Intent } from '../../../workflows/datamesh/domain/observed.ts';
import { planDatamesh } from '../../../workflows/datamesh/domain/plan.ts';
import type { PlannedStep } from '../../../workflows/datamesh/domain/steps.ts';
import { member, observed } from './meshes.ts';

const add = (type: MemberType): Intent => ({ op: 'AddMember', member: 'x', type, node: 'node-x', zone: 'a' });

/** The steps of one transition from so many Diskful and tie-breakers, blocked or not. */
function stepsOf(kernel: Kernel, D: number, TB: number, intent: Intent, qmr = 1): readonly PlannedStep[] {
  const members = [
    ...Array.from({ length: D }, (_, at) => member(`d${at + 1}`, 'D')),
    ...Array.from({ length: TB }, (_, at) => member(`t${at + 1}`, 'TB')),
  ];
  return planDatamesh(observed(members, { kernel, qmr }), [intent]).transitions.flatMap((one) => one.steps);
}

const scenes = KERNELS.flatMap((kernel) =>
  [1, 2, 3, 4].flatMap((D) => [0, 1, 2].map((TB) => [kernel, D, TB] as const)),
);

describe('steps', () => {
  test.each(scenes)(
    '%s, %iD+%iTB: a step that is no safe point says how to get to one, and no other does',
    (kernel, D, TB) => {
      for (const intent of [add('D'), add('TB'), { op: 'RemoveMember', member: 'd1' } as const]) {
        const steps = stepsOf(kernel, D, TB, intent);
        for (const step of steps) {
          expect(step.retreat.length > 0).toBe(!step.safePoint);
          expect(step.retreat.at(-1)?.safePoint ?? true).toBe(true);
        }
        expect(steps.at(-1)?.safePoint).toBe(true);
      }
    },
  );

  test.each(scenes)(
    '%s, %iD+%iTB: exactly the steps that change q roll from node to node',
    (kernel, D, TB) => {
      const steps = stepsOf(kernel, D, TB, add('D'));
      const before = [Math.floor(D / 2) + 1, ...steps.map((step) => step.q)];
      expect(steps.map((step) => step.rolling)).toEqual(steps.map((step, at) => step.q !== before[at]));
    },
  );

  test('beside a tie-breaker flant moves a vote without the disk, within the arrows of the specification', () => {
    const steps = stepsOf('flant', 2, 1, add('D'));
    expect(steps.map((step) => `${step.from}>${step.to}=${step.leaves}`)).toEqual([
      '✦>sD∅=sD∅',
      'sD∅>sD=sD',
      'sD>sD=sD∅',
      'sD>sD=sD∅',
      'sD>D=D∅',
      'D>D=D',
    ]);
    expect(stepsOf('flant', 2, 0, add('D')).map((step) => step.leaves)).toEqual(['sD∅', 'sD', 'D']);
  });

  test('ties stay unbroken until the copy behind a new vote is there, where qmr asks for more than one', () => {
    const reasons = (qmr: number): readonly string[] =>
      stepsOf('vanilla', 3, 1, add('D'), qmr).map((step) => `${step.from}>${step.to}`);
    expect(reasons(1)).toEqual(['✦>A', 'A>A', 'A>D∅', 'D∅>D∅', 'D∅>D']);
    expect(reasons(2)).toEqual(['✦>A', 'A>A', 'A>D∅', 'D∅>D', 'D>D']);
  });

  test('the envelope carries the retreat with its commands', () => {
    const seen = observed([member('d1', 'D'), member('d2', 'D'), member('t1', 'TB')]);
    const [transition] = buildEnvelope(planDatamesh(seen, [add('D')])).transitions;
    const [vestibule] = transition?.steps ?? [];
    expect(vestibule?.retreat.map((step) => Object.keys(step.commands))).toEqual([
      ['node-d1', 'node-d2', 'node-t1'],
      ['node-x'],
    ]);
    expect(vestibule?.retreat[0]?.commands['node-d1']?.at(-1)).toBe('drbdsetup forget-peer vol <id:x>');
  });
});
