import { WorkflowFailedError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestStack, type StackHandle } from '../../../deploy/local/testing.ts';
import { noWorkflowRuns, nothingIsLeft } from '../../faults/operations/valkey-invariants.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { keelson, type Ended } from '../starter/command-line.ts';
import { documentedCommands, runTyped } from './temporal-program.ts';

/** Everything but the trigger service. */
const PARTS = ['kube-controller-manager', 'kube-scheduler', 'temporal', 'nodes', 'provisioner', 'worker'];
/** Three pods: what is looked at here does not depend on replicas. */
const SMALL = { replicasPerMaster: 0, persistence: { size: '64Mi', retention: 'Delete' } } as const;

let stack: StackHandle & { stop(): Promise<void> };
beforeAll(async () => {
  stack = await startTestStack({ onlyParts: PARTS });
});
afterAll(() => stack.stop());

const run = (...args: readonly string[]): Promise<Ended> =>
  keelson(args, { TEMPORAL_ADDRESS: stack.temporalAddress, KUBECONFIG: stack.kubeconfig('admin') });

describe('`keelson start`, where no trigger service runs', () => {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await ClusterWorld.create(stack);
  });
  afterAll(() => world.remove());

  it('refuses a resource that is not there, and starts nothing', async () => {
    const ended = await run('start', world.entityId);
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.err).toContain(`there is no ValkeyCluster ${world.namespace}/cache`);
    expect(ended.err).toContain('kubectl apply');
    expect(await noWorkflowRuns.broken(world)).toBeNull();
  });

  it('carries a resource through, and says whether it started or woke its workflow', async () => {
    await world.applyWithSecret(SMALL);
    const first = await run('start', world.entityId);
    expect(first).toMatchObject({ code: 0, out: `${world.entityId}: started\n`, err: '' });
    const second = await run('start', 'valkeycluster', 'cache', '-n', world.namespace, '-o', 'json');
    expect(JSON.parse(second.out)).toMatchObject({
      workflowId: world.entityId,
      started: false,
      generation: 1,
    });
    await world.awaitPhase('Running');
    expect(await wrongWith(world, 3, 0)).toBeNull();
    expect((await run('list', '-n', world.namespace)).out).toContain(world.entityId);
  });

  it('tells of a deletion too, which the finalizer holds until then', async () => {
    await world.delete();
    expect(await world.read()).not.toBeNull();
    expect(await run('start', world.entityId)).toMatchObject({ code: 0 });
    await world.awaitGone();
    expect(await nothingIsLeft.broken(world)).toBeNull();
  });
});

describe('`temporal workflow start` with one JSON object, where no trigger service runs', () => {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await ClusterWorld.create(stack);
    await world.applyWithSecret(SMALL);
  });
  afterAll(async () => {
    await run('start', world.entityId);
    await world.delete();
    await run('start', world.entityId);
    await world.awaitGone();
    await world.remove();
  });

  it('carries a resource through, and every command of the README does what it says', async () => {
    const [start, ...rest] = documentedCommands(world);
    expect(await runTyped(world, start ?? '')).toMatchObject({ code: 0, err: '' });
    await world.awaitPhase('Running');
    expect(await wrongWith(world, 3, 0)).toBeNull();
    const words = rest.map((line) =>
      / (query|signal|update) .*(?:--type|--name) (\w+)/.exec(line)?.slice(1).join(' '),
    );
    expect(words).toEqual(['query status', 'query plan', 'signal hint', 'update pause', 'update resume']);
    const said = [];
    for (const line of rest) said.push(await runTyped(world, line));
    expect(said.map(({ code, err }) => ({ code, err }))).toEqual(rest.map(() => ({ code: 0, err: '' })));
    const [status, plan, , pause, resume] = said.map(({ out }) => out);
    expect(status).toContain('Running');
    expect(plan).toContain('"operation":"none"');
    expect(pause).toContain('a running operation holds at its next safe point');
    expect(resume).toContain('resumed');
    expect((await run('list', '-n', world.namespace)).out).toContain(world.entityId);
  });

  it.each([
    ['pause', '{"why": "x"}', 'say why'],
    ['pause', '"later"', 'say why'],
    ['resume', '{}', 'it is not paused'],
    ['approve', '{"hash": 7}', 'say what and who'],
    ['cancelOperation', '{"reason": "x"}', 'no operation is running'],
    ['retry', '{}', 'nothing has failed'],
  ])('refuses %s with %s in words', async (update, input, words) => {
    const line = `temporal workflow update execute --workflow-id ${world.entityId} --name ${update} --input '${input}'`;
    const said = await runTyped(world, line);
    expect(said.code).not.toBe(0);
    expect(said.err).toContain(words);
  });

  it('survives signals with anything in them', async () => {
    for (const input of [
      '{}',
      '"x"',
      '7',
      'null',
      '{"kind": "ValkeyCluster", "uid": 5, "generation": "x"}',
    ]) {
      const line = `temporal workflow signal --workflow-id ${world.entityId} --name hint --input '${input}'`;
      expect(await runTyped(world, line)).toMatchObject({ code: 0 });
    }
    expect((await runTyped(world, documentedCommands(world)[1] ?? '')).out).toContain('Running');
  });
});

describe('`temporal workflow start` with a wrong input', () => {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await ClusterWorld.create(stack, 'typo');
  });
  afterAll(() => world.remove());

  it('that is no JSON is refused by the command itself', async () => {
    const said = await runTyped(world, startLine(world, `{"ref": `));
    expect(said.code).not.toBe(0);
    expect(said.err).toContain('is not valid JSON');
  });

  it.each([
    ['"cache"', 'the input must be {"ref"'],
    ['7', 'the input must be {"ref"'],
    ['[]', 'the input must be {"ref"'],
    ['null', 'the input must be {"ref"'],
    ['{"ref": "typo"}', 'the input must be {"ref"'],
    ['{"ref": {"namespace": "", "name": "typo"}}', 'the input must be {"ref"'],
    ['{"ref": {"namespace": "elsewhere", "name": "typo"}}', 'start it under that id'],
    ['{"ref": REF, "tuning": "fast"}', '"tuning" must be an object'],
    ['{"ref": REF, "carried": {}}', 'leave it out'],
  ])('such as %s is a failed workflow that says what is wrong', async (input, words) => {
    const ref = JSON.stringify(world.ref);
    expect(await runTyped(world, startLine(world, input.replace('REF', ref)))).toMatchObject({ code: 0 });
    const handle = (await world.temporal()).workflow.getHandle(world.entityId);
    const error = await handle.result().then(
      () => null,
      (failed: unknown) => failed,
    );
    expect(error).toBeInstanceOf(WorkflowFailedError);
    expect(String((error as WorkflowFailedError).cause)).toContain(words);
  });
});

const startLine = (world: ClusterWorld, input: string): string =>
  `temporal workflow start --task-queue keelson --type valkeyCluster --workflow-id ${world.entityId} --input '${input}'`;
