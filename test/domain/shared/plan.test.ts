import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { irreversibleSteps, isApproved } from '../../../workflows/shared/approvals.ts';
import { canonicalJson, emptyPlan, hashJson, hashPlan } from '../../../workflows/shared/plan.ts';
import { sha256Hex } from '../../../workflows/shared/sha256.ts';
import { sampleEnvelope, samplePlan, sampleStep, type SampleCommand } from './sample-turn.ts';

const nodeHash = (text: string): string =>
  createHash('sha256').update(text.toWellFormed(), 'utf8').digest('hex');
const command = fc.record({
  kind: fc.constantFrom('ScrewIn', 'Discard', 'AwaitWarm'),
  socket: fc.nat(100),
  ranges: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 3 }),
});
const steps = fc
  .array(fc.tuple(command, fc.boolean()), { maxLength: 6 })
  .map((list) => list.map(([one, irreversible], at) => sampleStep(String(at + 1), one, irreversible)));
const hashOf = (list: readonly ReturnType<typeof sampleStep>[]): string =>
  hashPlan('lamp-row', 'default/a', samplePlan(...list));

describe('the hash', () => {
  it('is the SHA-256 of the text, as Node computes it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(sha256Hex(text)).toBe(nodeHash(text));
      }),
    );
    for (const length of [0, 55, 56, 57, 63, 64, 65, 119, 120, 1_000]) {
      expect(sha256Hex('é'.repeat(length))).toBe(nodeHash('é'.repeat(length)));
    }
  });

  it('does not depend on the order of keys, nor on keys without a value', () => {
    expect(hashJson({ a: 1, b: [{ c: 2, d: null }] })).toBe(
      hashJson({ b: [{ d: null, c: 2 }], a: 1, e: undefined }),
    );
    expect(canonicalJson({ b: 1, a: undefined })).toBe('{"b":1}');
  });

  it('tells any two different values apart', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const same = canonicalJson(a) === canonicalJson(b);
        expect(hashJson(a) === hashJson(b)).toBe(same);
      }),
    );
  });
});

describe('the hash of a plan', () => {
  it('is the same for other reasons, measured facts, groups and totals', () => {
    fc.assert(
      fc.property(steps, fc.string(), fc.nat(), (list, reason, bytes) => {
        const told = list.map((one) => ({ ...one, reason, facts: { bytes }, group: bytes }));
        expect(hashOf(told)).toBe(hashOf(list));
        const plan = samplePlan(...list);
        expect(hashPlan('lamp-row', 'default/a', { ...plan, totals: { bytes } })).toBe(hashOf(list));
      }),
    );
  });

  it('changes with every parameter of every step', () => {
    fc.assert(
      fc.property(steps, fc.nat(), (list, pick) => {
        fc.pre(list.length > 0);
        const at = pick % list.length;
        const changed = (change: object): string =>
          hashOf(list.map((one, index) => (index === at ? { ...one, ...change } : one)));
        const { socket = 0, ranges = [] } = list[at] ?? { kind: '' };
        for (const change of [
          { socket: socket + 1 },
          { kind: 'Other' },
          { id: 'x' },
          { ranges: [...ranges, [0, 1]] },
          { extra: true },
        ])
          expect(changed(change)).not.toBe(hashOf(list));
      }),
    );
  });

  it('changes with lifecycle, resource, operation, version, and the order and number of steps', () => {
    const plan = samplePlan(sampleStep('1', { kind: 'A' }), sampleStep('2', { kind: 'B' }));
    const hashes = [
      hashPlan('lamp-row', 'default/a', plan),
      hashPlan('other', 'default/a', plan),
      hashPlan('lamp-row', 'default/b', plan),
      hashPlan('lamp-row', 'default/a', { ...plan, operation: 'light-up' }),
      hashPlan('lamp-row', 'default/a', { ...plan, version: 2 }),
      hashPlan('lamp-row', 'default/a', { ...plan, steps: plan.steps.toReversed() }),
      hashPlan('lamp-row', 'default/a', { ...plan, steps: plan.steps.slice(1) }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hashes[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});

describe('an empty plan', () => {
  it('has no steps and the operation none', () => {
    expect(sampleEnvelope(emptyPlan(1))).toMatchObject({
      operation: 'none',
      steps: [],
      blocked: [],
      unknown: [],
    });
  });
});

describe('an approval', () => {
  const approve = (list: readonly ReturnType<typeof sampleStep>[]) => ({
    hash: 'sha256:x',
    by: 'ada',
    steps: irreversibleSteps(samplePlan(...list)),
  });

  it('covers every plan whose steps that cannot be undone are among those agreed to, whatever their numbers', () => {
    fc.assert(
      fc.property(steps, fc.func(fc.boolean()), (list, keeps) => {
        const fewer = list
          .filter((one) => keeps(one.id))
          .map((one, at) => ({ ...one, id: `new-${at}`, reason: 'now' }));
        expect(isApproved(samplePlan(...fewer), approve(list))).toBe(true);
      }),
    );
  });

  it('does not cover a plan with one more such step, or one with another parameter', () => {
    const agreed = sampleStep('1', { kind: 'Discard', socket: 1 }, true);
    const more = sampleStep('2', { kind: 'Discard', socket: 2 }, true);
    expect(isApproved(samplePlan(agreed), approve([agreed]))).toBe(true);
    expect(isApproved(samplePlan(agreed, more), approve([agreed]))).toBe(false);
    expect(isApproved(samplePlan({ ...agreed, socket: 3 }), approve([agreed]))).toBe(false);
  });

  it('is needed for what cannot be undone only', () => {
    const harmless: SampleCommand = { kind: 'ScrewIn', socket: 1 };
    expect(isApproved(samplePlan(sampleStep('1', harmless)), null)).toBe(true);
    expect(isApproved(samplePlan(sampleStep('1', harmless, true)), null)).toBe(false);
  });
});
