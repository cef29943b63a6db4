import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import { Browser } from './browser.ts';
import { removeScenes, setScenes, type Scenes } from './scenes.ts';
import { findRun, WebUi } from './workflow-page.ts';

let browser: Browser;
let ui: WebUi;
let scenes: Scenes;
const shots = mkdtempSync(join(tmpdir(), 'keelson-screenshots-'));

beforeAll(async () => {
  const stack = await useStack();
  browser = await Browser.open();
  ui = new WebUi(browser.page, stack.temporalUiUrl, shots);
  scenes = await setScenes(stack);
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await removeScenes(scenes);
  rmSync(shots, { recursive: true, force: true });
});

const NAME = 'create: 3 masters with 1 replica each on valkey/valkey:9.1.2';

describe('the list of workflows', () => {
  it('finds a resource by its name, with its entity and its operation, and what has failed by its phase', async () => {
    const { running, failed } = scenes;
    const rows = await ui.list(`KeelsonNamespace = "${running.namespace}" AND KeelsonName = "sessions"`, 2);
    expect(rows.join('\n')).toContain(running.entityId);
    expect(rows.join('\n')).toContain(`${running.entityId}/create/`);
    const byPhase = await ui.list(`KeelsonPhase = "Failed" AND KeelsonNamespace = "${failed.namespace}"`, 1);
    expect(byPhase.join('\n')).toContain(failed.entityId);
    await ui.list('KeelsonKind = "ValkeyCluster" AND ExecutionStatus = "Running"', 4);
    expect(existsSync(await ui.shoot('web-ui-list'))).toBe(true);
  });
});

describe('an operation that runs', () => {
  it('is named by what it is for, and ticks off the steps of its plan', async () => {
    await ui.open(await operationOf(scenes.running), 'user-metadata', 'RUNNING');
    const { summary, details } = await ui.readMetadata();
    expect(summary).toBe(NAME);
    const lines = details.split('\n').map((line) => line.trim());
    expect(lines[0]).toBe('create (WaitingForPods)');
    expect(lines).toContainEqual(expect.stringMatching(/^✓ 1 CreateShard: shard 0 is new: .* \([\d.]+ s\)$/));
    expect(lines).toContain('▶ 4 AwaitPods: 6 pods of shards 0, 1 and 2 must be Ready');
    expect(lines).toContain('· 5 MeetNode: the nodes must know each other to be a cluster');
    await ui.shoot('web-ui-running');
  });

  it('says on every activity and timer what it is about', async () => {
    await ui.open(await operationOf(scenes.running), 'timeline', 'RUNNING');
    await ui.expectText(/applyKubernetesObjects.*1 CreateShard: shard 0 is new/);
    await ui.expectText(/awaitKubernetesPods.*4 AwaitPods: 6 pods/);
    await ui.expectText('what holds the pods up');
  });

  it('carries the search attributes', async () => {
    await ui.open(await operationOf(scenes.running), 'search-attributes', 'RUNNING');
    const expected = {
      Kind: 'ValkeyCluster',
      Name: 'sessions',
      Operation: 'create',
      Phase: 'WaitingForPods',
    };
    for (const [name, value] of Object.entries({ ...expected, Namespace: scenes.running.namespace }))
      await ui.expectText(new RegExp(`"Keelson${name}": "${value}"`));
  });
});

describe('an operation that has to wait', () => {
  it('is told on the entity, with the field and the remedy', async () => {
    await ui.open(await operationOf(scenes.waiting), 'user-metadata', 'RUNNING');
    const { summary, details } = await ui.readMetadata();
    expect(summary).toBe(`ValkeyCluster ${scenes.waiting.namespace}/carts`);
    expect(details).toMatch(
      /^Pending: blocked by the guard DependenciesExist: spec\.auth\.secretRef: Secret carts-password does not exist: create it/,
    );
    await ui.shoot('web-ui-waiting');
  });

  it('waits on a timer that says for what', async () => {
    await ui.open(await operationOf(scenes.waiting), 'history', 'RUNNING');
    await ui.expectText(/blocked by the guard DependenciesExist: spec\.auth\.secretRef/);
  });
});

describe('an operation that failed', () => {
  it('shows the step, and why in the words of who refused', async () => {
    await ui.open(await operationOf(scenes.failed), 'user-metadata', 'FAILED');
    const { details } = await ui.readMetadata();
    expect(details).toMatch(/failed: .*exceeded quota: no-statefulsets/);
    expect(details).toMatch(/✗ 1 CreateShard/);
    expect(details).toMatch(/· 4 AwaitPods/);
    await ui.shoot('web-ui-failed');
  });
});

describe('an operation that is finished', () => {
  it('has every step ticked', async () => {
    await ui.open(await operationOf(scenes.finished), 'user-metadata', 'COMPLETED');
    const { summary, details } = await ui.readMetadata();
    expect(summary).toBe(NAME);
    const marks = details.split('\n').flatMap((line) => /^\s*(\S) \d+ [A-Z]/.exec(line)?.[1] ?? []);
    expect(marks).toHaveLength(12);
    expect(new Set(marks)).toEqual(new Set(['✓']));
  });

  it('has a timeline that reads like the runbook', async () => {
    await ui.open(await operationOf(scenes.finished), 'timeline', 'COMPLETED');
    await ui.whileTall(async () => {
      for (const step of ['4 AwaitPods', '5 MeetNode', '6 AssignSlots', '9 AttachReplica', '12 VerifyHealth'])
        await ui.expectText(new RegExp(step));
    });
    await ui.shoot('web-ui-finished');
  });
});

const operationOf = async (world: ClusterWorld): ReturnType<typeof findRun> =>
  findRun(await world.temporal(), world.namespace, world.entityId);
