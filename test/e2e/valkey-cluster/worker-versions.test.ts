import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestStack, type StackHandle } from '../../../deploy/local/testing.ts';
import type { EntityStatus } from '../../../workflows/shared/messages.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { applyUpgrade, awaitUpgrade, awaitUpgradePhase, tagsOf } from '../../valkey/upgrade-world.ts';
import { WorkerHandle } from '../activities/worker-handle.ts';
import { keelson } from '../starter/command-line.ts';
import { underLoad } from '../valkey-upgrade/under-load.ts';
import { runTyped } from './temporal-program.ts';

/** A cluster without worker and trigger service: the workers are the test's own. */
const PARTS = ['kube-controller-manager', 'kube-scheduler', 'temporal', 'nodes', 'provisioner'];
const BUILDER = fileURLToPath(new URL('../../../worker/build-bundle.ts', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../../worker/main.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'keelson-versions-'));
const bundle = join(directory, 'workflows.js');

let stack: StackHandle & { stop(): Promise<void> };
let world: ClusterWorld;
let environment: Readonly<Record<string, string>>;
beforeAll(async () => {
  stack = await startTestStack({ onlyParts: PARTS });
  world = await ClusterWorld.create(stack);
  environment = { TEMPORAL_ADDRESS: stack.temporalAddress, KUBECONFIG: stack.kubeconfig('admin') };
  await promisify(execFile)(process.execPath, [BUILDER, bundle]);
});
afterAll(async () => {
  await stack.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** A worker of one version, from a bundle that was built before. */
const startVersion = (version: string): WorkerHandle =>
  new WorkerHandle(
    {
      KUBECONFIG: stack.kubeconfig('worker'),
      TEMPORAL_ADDRESS: stack.temporalAddress,
      KEELSON_CACHE: join(directory, 'cache'),
      KEELSON_WORKFLOW_BUNDLE: bundle,
      KEELSON_WORKER_VERSIONING: 'auto-upgrade',
      TEMPORAL_WORKER_BUILD_ID: version,
    },
    PROGRAM,
  );

it('finishes under the next version of the worker, from a prebuilt bundle, the operation that began under this one', async () => {
  await using one = startVersion('one');
  await one.awaitLine('ready for work');
  await makeCurrent('one');
  await world.applyWithSecret({
    image: { tag: '9.0.0' },
    persistence: { size: '64Mi', retention: 'Delete' },
  });
  await tell('start');
  const { workflowId } = await awaitOperation();
  await tell('pause', '--reason', 'the worker is replaced');
  expect(await versionOf(workflowId)).toBe('one');

  await using two = startVersion('two');
  const { remedy } = await two.awaitLine('work comes once this version is the current one');
  expect(remedy).toContain('--deployment-name keelson --build-id two');
  await makeCurrent('two');
  one.signal('SIGTERM');
  expect(await one.exit()).toBe(0);

  await tell('resume');
  await world.awaitPhase('Running');
  expect(await wrongWith(world, 3, 1)).toBeNull();
  expect(await versionOf(workflowId)).toBe('two');
  expect(await versionOf(world.entityId)).toBe('two');
  const { last } = await readStatus();
  expect(last).toMatchObject({ operation: 'create', outcome: 'done' });
  // Neither worker has bundled anything: the file was all that they had.
  expect(readdirSync(directory)).toEqual(['workflows.js']);
});

it('goes on with an upgrade of Valkey under the next version of the worker, without a pause, and loses nothing', async () => {
  await using three = startVersion('three');
  await three.awaitLine('work comes once this version is the current one');
  await makeCurrent('three');
  await using four = startVersion('four');
  await four.awaitLine('work comes once this version is the current one');
  const { report, result: upgrade } = await underLoad(world, async () => {
    await applyUpgrade(world, 'upgrade', '9.1.2', { strategy: 'InPlace', stabilitySeconds: 0 });
    await tell('start');
    const { workflowId } = await awaitOperation();
    await awaitUpgrade(world, 'upgrade', 'the second shard', ({ currentShard }) => currentShard === 1);
    await makeCurrent('four');
    // In the middle of the second shard: what it was doing is done again by the next.
    three.signal('SIGTERM');
    await awaitUpgradePhase(world, 'upgrade', 'Completed');
    await world.awaitPhase('Running');
    return workflowId;
  });
  expect(await three.exit()).toBe(0);
  expect(report).toMatchObject({ lost: [], wentBack: [] });
  const versions = ['/shard-0', '/shard-1', '/shard-2', ''].map((part) => versionOf(`${upgrade}${part}`));
  expect(await Promise.all(versions)).toEqual(['three', 'four', 'four', 'four']);
  expect(await tagsOf(world)).toEqual(['9.1.2']);
  expect(await wrongWith(world, 3, 1)).toBeNull();

  await world.delete();
  await tell('start');
  await world.awaitGone();
  await world.remove();
});

it('says which bundle it cannot read', async () => {
  await using worker = new WorkerHandle(
    {
      KUBECONFIG: stack.kubeconfig('worker'),
      TEMPORAL_ADDRESS: stack.temporalAddress,
      KEELSON_WORKFLOW_BUNDLE: join(directory, 'absent.js'),
    },
    PROGRAM,
  );
  expect(await worker.exit()).not.toBe(0);
  await expect.poll(() => worker.errors).toContain('absent.js');
});

const readStatus = async (): Promise<EntityStatus> =>
  (await world.temporal()).workflow.getHandle(world.entityId).query<EntityStatus>('status');

const awaitOperation = (): Promise<NonNullable<EntityStatus['operation']>> =>
  world.until(async () => {
    const { operation } = await readStatus();
    return operation === null ? { missing: 'an operation' } : { found: operation };
  });

/** A command about the cluster, as a person gives it; `start` is what the trigger service would say. */
async function tell(verb: string, ...more: readonly string[]): Promise<void> {
  expect(await keelson([verb, world.entityId, ...more], environment)).toMatchObject({ code: 0 });
}

/** The version of the worker that did the workflow's last task. */
async function versionOf(workflowId: string): Promise<string | null | undefined> {
  const { raw } = await (await world.temporal()).workflow.getHandle(workflowId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
}

/** Sends work to a version; the server learns of one a moment after its worker has first asked for work. */
async function makeCurrent(version: string): Promise<void> {
  const line = `temporal worker deployment set-current-version --deployment-name keelson --build-id ${version} --yes`;
  await world.until(async () => {
    const { code, err } = await runTyped(world, line);
    return code === 0 ? { found: true } : { missing: err };
  });
}
