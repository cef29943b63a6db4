import { beforeEach, describe, expect, it } from 'vitest';
import type { Theatre } from '../../simulation/theatre.ts';
import { Stage } from './stage.ts';

let rows = 0;
/** Every test plays on a row of its own. */
function nextName(): string {
  rows += 1;
  return `row-${rows}`;
}

/** What the core promises, whatever runs it: the same tests on the simulator and on a Temporal server. */
export function describeCore(place: string, open: () => Promise<Theatre>): void {
  describe(`the core on ${place}`, () => {
    let theatre: Theatre;
    const stage = (): Stage => new Stage(theatre, nextName());

    beforeEach(async () => {
      theatre = await open();
    });

    it('carries a row from its creation to its deletion and leaves nothing open', async () => {
      const row = stage();
      await row.apply({ wanted: 3 });
      await row.untilLit(3);
      await row.apply({ wanted: 2 });
      await row.untilLit(2);
      await row.delete();
      await row.untilGone();
      expect(await row.outcomes()).toEqual(['light-up: done', 'dim: done', 'dismantle: done']);
      expect(row.effects.toSorted()).toEqual([
        'discard 0',
        'discard 1',
        'discard 2',
        'screw in 0',
        'screw in 1',
        'screw in 2',
      ]);
    });

    it('ends an operation with a result that a person can read', async () => {
      const row = stage();
      await row.apply({ wanted: 2 });
      await row.untilLit(2);
      const { last } = await theatre.status(row.ref);
      expect(last).toMatchObject({
        operation: 'light-up',
        outcome: 'done',
        message: 'light-up is done',
        failure: null,
        steps: { done: 4, of: 4 },
        phase: 'Lit',
      });
      expect(Object.keys(last?.stepSeconds ?? {})).toEqual(['ScrewIn', 'AwaitWarm']);
    });

    it('refuses to run under another id than its own', async () => {
      const { ref } = stage();
      await expect(theatre.execute('lampRow', 'lamp-row/elsewhere', { ref })).rejects.toThrow(
        `this resource has one workflow, lamp-row/default/${ref.name}: start it under that id`,
      );
    });

    it('refuses an input that names no resource', async () => {
      await expect(theatre.execute('lampRow', 'lamp-row/typo', { name: 'a' })).rejects.toThrow(
        'the input must be {"ref": {"namespace": "…", "name": "…"}}',
      );
    });

    it.each([
      [{ tuning: 'fast' }, '"tuning" must be an object'],
      [{ tuning: null }, '"tuning" must be an object'],
      [{ tuning: { driftMs: 'soon' } }, '"tuning.driftMs" must be a number of at least 1, not "soon"'],
      [{ carried: {} }, '"carried" is what the workflow hands on to itself: leave it out'],
      [{ carried: 7 }, '"carried" is what the workflow hands on to itself: leave it out'],
    ])('refuses %j beside the reference in words', async (extras, words) => {
      const { ref } = stage();
      const started = theatre.execute('lampRow', `lamp-row/default/${ref.name}`, { ref, ...extras });
      await expect(started).rejects.toThrow(words);
    });

    it('refuses an operation that nobody but a person started', async () => {
      const { ref } = stage();
      await expect(theatre.execute('lampRowDim', 'dim-it', { ref })).rejects.toThrow(
        `operations are started by lamp-row/default/${ref.name} only`,
      );
    });

    it('ends at once when there is no such resource', async () => {
      const { ref, entity } = stage();
      await expect(theatre.execute('lampRow', entity, { ref })).resolves.toBeUndefined();
    });

    it('lets a newer generation end a wait at once, and plans anew', async () => {
      const row = stage();
      const letGo = row.hold('awaitLampWarm');
      await row.apply({ wanted: 3 });
      await row.untilStep('light-up', 'AwaitWarm');
      await row.apply({ wanted: 2 });
      await row.untilOutcome('light-up: superseded');
      letGo();
      await row.untilLit(2);
      expect((await row.outcomes()).slice(0, 2)).toEqual(['light-up: superseded', 'dim: done']);
    });

    it('finishes a step that is no mere wait before it makes way for a newer generation', async () => {
      const row = stage();
      const letGo = row.hold('screwInLamp');
      await row.apply({ wanted: 4 });
      const workflowId = await row.untilStep('light-up', 'ScrewIn');
      await row.apply({ wanted: 2 });
      await row.until('it knows that it should stop', async () => {
        const { stopping } = await theatre.progress(workflowId);
        return stopping === 'generation 2 is wanted now';
      });
      expect(row.effects).toEqual([]);
      letGo();
      await row.untilLit(2);
      // The first group of two was finished, and the second never begun.
      expect(row.effects.toSorted()).toEqual(['screw in 0', 'screw in 1']);
    });

    it('is not disturbed by hints that bring no newer generation, of whatever kind', async () => {
      const row = stage();
      const letGo = row.hold('screwInLamp');
      await row.apply({ wanted: 2 });
      const workflowId = await row.untilStep('light-up', 'ScrewIn');
      const { uid } = row.row ?? { uid: '' };
      await theatre.hint(row.ref);
      await theatre.hint(row.ref, { kind: 'Chandelier', uid: 'uid-x', generation: 99 });
      await theatre.hint(row.ref, { kind: 'LampRow', uid, generation: 1 });
      letGo();
      await row.untilLit(2);
      expect((await row.ended()).map((end) => end.workflowId)).toEqual([workflowId]);
    });

    it('is not disturbed by a signal that says nothing or nonsense', async () => {
      const row = stage();
      await row.apply({ wanted: 1 });
      await row.untilLit(1);
      await theatre.signal(row.entity, 'hint', null);
      await theatre.signal(row.entity, 'hint', 'hello');
      await row.apply({ wanted: 2 });
      await row.untilLit(2);
    });

    it('lets a pause reach the running operation, and resume release it', async () => {
      const row = stage();
      const letGo = row.hold('screwInLamp');
      await row.apply({ wanted: 4 });
      const workflowId = await row.untilStep('light-up', 'ScrewIn');
      await row.update('pause', { reason: 'the electrician is here' });
      await row.until('the operation knows', async () => {
        const { waiting } = await theatre.progress(workflowId);
        return waiting === 'paused: the electrician is here';
      });
      letGo();
      await row.until('the status says so', () =>
        (row.row?.status?.message ?? '').includes('paused: the electrician is here'),
      );
      expect(row.effects).toHaveLength(2);
      await row.update('resume');
      await row.untilLit(4);
      expect(await row.outcomes()).toEqual(['light-up: done']);
    });

    it('undoes a cancelled operation in reverse order and leaves the wish alone until it is retried', async () => {
      const row = stage();
      const letGo = row.hold('awaitLampWarm');
      await row.apply({ wanted: 3 });
      await row.untilStep('light-up', 'AwaitWarm');
      await row.update('cancelOperation', { reason: 'too bright' });
      await row.untilStatus('OperationCancelled');
      const placed = row.effects.filter((effect) => effect.startsWith('screw in'));
      const undone = row.effects.filter((effect) => effect.startsWith('unscrew'));
      expect(undone.map((effect) => effect.replace('unscrew', 'screw in'))).toHaveLength(placed.length);
      expect(undone[0]).toBe('unscrew 2');
      await row.untilWaiting('cancelled', 'light-up was cancelled: too bright');
      // A hint makes it look again, and no more than that.
      await theatre.hint(row.ref);
      await row.untilWaiting('cancelled', 'light-up was cancelled: too bright');
      expect(await row.outcomes()).toEqual(['light-up: cancelled']);
      letGo();
      await row.update('retry');
      await row.untilLit(3);
    });

    it('takes up a cancelled wish again when a newer generation asks for it', async () => {
      const row = stage();
      const letGo = row.hold('awaitLampWarm');
      await row.apply({ wanted: 2 });
      await row.untilStep('light-up', 'AwaitWarm');
      await row.update('cancelOperation', { reason: 'too bright' });
      await row.untilStatus('OperationCancelled');
      letGo();
      await row.apply({ wanted: 1 });
      await row.untilLit(1);
    });

    it('refuses every update that makes no sense, in words', async () => {
      const row = stage();
      await row.apply({ wanted: 1 });
      await row.untilLit(1);
      await expect(row.update('pause', {})).rejects.toThrow('say why: {"reason": "…"}');
      await expect(row.update('pause')).rejects.toThrow('say why');
      await expect(row.update('resume')).rejects.toThrow('it is not paused');
      await expect(row.update('cancelOperation', { reason: 'no' })).rejects.toThrow(
        'no operation is running',
      );
      await expect(row.update('retry')).rejects.toThrow('nothing has failed and nothing was cancelled');
      await expect(row.update('approve')).rejects.toThrow('say what and who');
      await expect(row.update('approve', { hash: 'sha256:0', by: 'me', reason: 'x' })).rejects.toThrow(
        'there is no plan to approve',
      );
    });

    it('waits for the approval of exactly this plan before it does what cannot be undone', async () => {
      const row = stage();
      await row.apply({ wanted: 2, approvals: true });
      await row.untilLit(2);
      await row.apply({ wanted: 1 });
      await row.untilStatus('AwaitingApproval');
      const plan = await theatre.plan(row.ref);
      expect(plan?.operation).toBe('dim');
      expect(row.row?.status?.message).toContain(plan?.hash);
      await expect(row.update('approve', { hash: 'sha256:0', by: 'me', reason: 'x' })).rejects.toThrow(
        `the plan is another one now: ${plan?.hash}`,
      );
      expect(row.row?.lamps).toHaveLength(2);
      await row.update('approve', { hash: plan?.hash, by: 'ada', reason: 'it is bright outside' });
      await row.untilLit(1);
    });

    it('waits for a guard without failing, says what it waits for, and goes on by itself', async () => {
      const row = stage();
      await row.apply({ wanted: 2, sockets: 1 });
      await row.untilStatus('Blocked');
      expect(row.row?.status?.message).toBe('blocked by the guard Sockets: wants 2 lamps but has 1 sockets');
      expect(row.row?.status?.phase).toBe('Dark');
      expect(await row.ended()).toEqual([]);
      await row.apply({ sockets: 2 });
      await row.untilLit(2);
    });

    it('asks the guard again, on a fresh look, before each step that cannot be undone', async () => {
      const row = stage();
      await row.apply({ wanted: 3 });
      await row.untilLit(3);
      const letGo = row.hold('discardLamp');
      await row.apply({ wanted: 1 });
      await row.untilCaught('discardLamp');
      theatre.world.apply(row.ref, { reader: true });
      letGo();
      await row.untilStatus('Blocked');
      expect(await row.outcomes()).toEqual(['light-up: done', 'dim: blocked']);
      expect(row.row?.lamps).toHaveLength(2);
      await row.apply({ reader: false });
      await row.untilLit(1);
    });

    it('enters the failed phase when a person must act, stays there, and recovers when asked', async () => {
      const row = stage();
      row.fail('screwInLamp', 'KubernetesForbidden', 'no right to touch lamps', 1);
      await row.apply({ wanted: 1 });
      await row.untilStatus('AwaitingChange');
      expect(row.row?.status).toMatchObject({
        phase: 'Failed',
        message: 'KubernetesForbidden: no right to touch lamps',
      });
      await row.untilWaiting('change');
      await theatre.hint(row.ref);
      await theatre.hint(row.ref);
      expect((await theatre.status(row.ref)).waiting?.on).toBe('change');
      await row.update('retry');
      await row.untilLit(1);
      expect(await row.outcomes()).toEqual(['light-up: failed', 'light-up: done']);
    });

    it('says what is wrong with an invalid wish, and takes the next one', async () => {
      const row = stage();
      await row.apply({ wanted: 0 });
      await row.untilStatus('AwaitingChange');
      expect(row.row?.status).toMatchObject({
        phase: 'Failed',
        message: 'ResourceInvalid: spec.wanted is 0',
      });
      expect(await row.ended()).toEqual([]);
      await row.apply({ wanted: 1 });
      await row.untilLit(1);
    });

    it('plans again after a failure that passes, and its own status writes do not end the back-off', async () => {
      const row = stage();
      row.fail('screwInLamp', 'GenerationMoved', 'somebody moved the socket', 4);
      await row.apply({ wanted: 1 });
      await row.untilStatus('BackOff');
      await row.untilWaiting('back-off');
      const before = (await row.ended()).length;
      await theatre.hint(row.ref);
      await theatre.hint(row.ref);
      expect((await theatre.status(row.ref)).waiting?.on).toBe('back-off');
      expect(await row.ended()).toHaveLength(before);
      await row.untilLit(1);
    });

    it('deletes a row in the middle of an operation', async () => {
      const row = stage();
      row.hold('awaitLampWarm');
      await row.apply({ wanted: 3 });
      await row.untilStep('light-up', 'AwaitWarm');
      await row.delete();
      await row.untilGone();
      row.letGo('awaitLampWarm');
      expect(await row.outcomes()).toEqual(['light-up: superseded', 'dismantle: done']);
    });

    it('leaves a row alone that was replaced in the middle of an operation, and serves the new one', async () => {
      const row = stage();
      const letGo = row.hold('screwInLamp');
      await row.apply({ wanted: 2 });
      await row.untilStep('light-up', 'ScrewIn');
      theatre.world.vanish(row.ref);
      await row.apply({ wanted: 1 });
      letGo();
      await row.untilLit(1);
      expect(row.effects).toEqual(['screw in 0']);
    });

    it('lives on when its status cannot be written', async () => {
      const row = stage();
      row.fail('reportLampRow', 'KubernetesForbidden', 'no right to write the status', 6);
      await row.apply({ wanted: 2 });
      await row.until('the lamps are in', () => row.row?.lamps.length === 2);
      await row.untilWaiting('drift');
      row.failNoMore();
      await row.apply({ wanted: 1 });
      await row.untilLit(1);
    });

    it('undoes its work when Temporal itself is asked to cancel the operation', async () => {
      const row = stage();
      row.hold('awaitLampWarm');
      await row.apply({ wanted: 2 });
      const workflowId = await row.untilStep('light-up', 'AwaitWarm');
      await theatre.cancel(workflowId);
      await row.untilStatus('OperationCancelled');
      row.letGo('awaitLampWarm');
      expect(row.row?.lamps).toEqual([]);
      expect(await row.outcomes()).toEqual(['light-up: cancelled']);
      await row.update('retry');
      await row.untilLit(2);
    });

    it('does not undo before a step that was cancelled has really ended', async () => {
      const row = stage();
      const letGo = row.hold('screwInLamp');
      await row.apply({ wanted: 1 });
      const workflowId = await row.untilStep('light-up', 'ScrewIn');
      await row.untilCaught('screwInLamp');
      await theatre.cancel(workflowId);
      await row.until('the step has heard of it', () => theatre.world.hasHeard(row.ref, 'screwInLamp'));
      expect(row.effects).toEqual([]);
      letGo();
      await row.untilStatus('OperationCancelled');
      expect(row.effects).toEqual(['screw in 0', 'unscrew 0']);
    });

    it('outlives an operation that was terminated, and waits to be asked', async () => {
      const row = stage();
      row.hold('awaitLampWarm');
      await row.apply({ wanted: 2 });
      const workflowId = await row.untilStep('light-up', 'AwaitWarm');
      await theatre.terminate(workflowId);
      await row.untilStatus('OperationCancelled');
      row.letGo('awaitLampWarm');
      expect(await row.outcomes()).toEqual(['light-up: terminated']);
      await row.update('retry');
      await row.untilLit(2);
    });

    it('waits for its operation to be undone when it is cancelled itself', async () => {
      const row = stage();
      row.hold('awaitLampWarm');
      await row.apply({ wanted: 2 });
      await row.untilStep('light-up', 'AwaitWarm');
      await theatre.cancel(row.entity);
      await row.until('the entity has ended', async () => !(await theatre.isOpen(row.entity)));
      row.letGo('awaitLampWarm');
      expect(row.row?.lamps).toEqual([]);
      expect(await row.outcomes()).toEqual(['light-up: cancelled']);
    });
  });
}
