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
import { WorkerHandle } from '../activities/worker-handle.ts';
import { keelson } from '../starter/command-line.ts';
import { runTyped } from './temporal-program.ts';

/** A cluster without worker and trigger service: the workers are the test's own. */
const PARTS = ['kube-controller-manager', 'kube-scheduler', 'temporal', 'nodes', 'provisioner'];
const BUILDER = fileURLToPath(new URL('../../../worker/build-bundle.ts', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../../worker/main.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'keelson-versions-'));
const bundle = join(directory, 'workflows.js');

let stack: StackHandle & { stop(): Promise<void> };
beforeAll(async () => {
  stack = await startTestStack({ onlyParts: PARTS });
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
  const world = await ClusterWorld.create(stack);
  await makeCurrent(world, 'one');
  const environment = {
    TEMPORAL_ADDRESS: stack.temporalAddress,
    KUBECONFIG: stack.kubeconfig('admin'),
  };
  await world.applyWithSecret({ persistence: { size: '64Mi', retention: 'Delete' } });
  expect(await keelson(['start', world.entityId], environment)).toMatchObject({ code: 0 });
  const { workflowId } = await world.until(async () => {
    const { operation } = await statusOf(world);
    return operation === null ? { missing: 'an operation' } : { found: operation };
  });
  const pause = ['pause', world.entityId, '--reason', 'the worker is replaced'];
  expect(await keelson(pause, environment)).toMatchObject({ code: 0 });
  expect(await versionOf(world, workflowId)).toBe('one');

  await using two = startVersion('two');
  const { remedy } = await two.awaitLine('work comes once this version is the current one');
  expect(remedy).toContain('--deployment-name keelson --build-id two');
  await makeCurrent(world, 'two');
  one.signal('SIGTERM');
  expect(await one.exit()).toBe(0);

  expect(await keelson(['resume', world.entityId], environment)).toMatchObject({ code: 0 });
  await world.awaitPhase('Running');
  expect(await wrongWith(world, 3, 1)).toBeNull();
  expect(await versionOf(world, workflowId)).toBe('two');
  expect(await versionOf(world, world.entityId)).toBe('two');
  const { last } = await statusOf(world);
  expect(last).toMatchObject({ operation: 'create', outcome: 'done' });
  // Neither worker has bundled anything: the file was all that they had.
  expect(readdirSync(directory)).toEqual(['workflows.js']);

  await world.delete();
  expect(await keelson(['start', world.entityId], environment)).toMatchObject({ code: 0 });
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

async function statusOf(world: ClusterWorld): Promise<EntityStatus> {
  return (await world.temporal()).workflow.getHandle(world.entityId).query<EntityStatus>('status');
}

/** The version of the worker that did the workflow's last task. */
async function versionOf(world: ClusterWorld, workflowId: string): Promise<string | null | undefined> {
  const { raw } = await (await world.temporal()).workflow.getHandle(workflowId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
}

/** Sends work to a version; the server learns of one a moment after its worker has first asked for work. */
async function makeCurrent(world: ClusterWorld, version: string): Promise<void> {
  const line = `temporal worker deployment set-current-version --deployment-name keelson --build-id ${version} --yes`;
  await world.until(async () => {
    const { code, err } = await runTyped(world, line);
    return code === 0 ? { found: true } : { missing: err };
  });
}
