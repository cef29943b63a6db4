import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import { applyUpgrade, awaitUpgrade, awaitUpgradePhase, tagsOf } from '../../valkey/upgrade-world.ts';
import { Browser } from '../web-ui/browser.ts';
import { WebUi, type Run } from '../web-ui/workflow-page.ts';
import { clusterOn, underLoad, upgradeUnderLoad, wantedTag } from './under-load.ts';

describe('a cluster of 3 masters with a replica each that is written to all the while', () => {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await clusterOn('9.0.0', 1);
  });
  afterAll(() => world.remove());

  it('rolls back from an image that does not exist, and loses nothing', async () => {
    const limits = { podReadyTimeoutSeconds: 15 };
    const { report, seen } = await upgradeUnderLoad(world, 'broken', '9.9.9', 'RolledBack', limits);
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(seen.status?.errorMessage).toMatch(/9\.9\.9/);
    expect(await tagsOf(world)).toEqual(['9.0.0']);
    expect(await wantedTag(world)).toBe('9.0.0');
    expect(await wrongWith(world, 3, 1)).toBeNull();
  });

  it('is upgraded in place from 9.0.0 to 9.1.2, also when a pod goes by itself, and loses nothing', async () => {
    const { report } = await underLoad(world, async () => {
      await applyUpgrade(world, 'in-place', '9.1.2', { strategy: 'InPlace' });
      await awaitUpgrade(world, 'in-place', 'the second shard', ({ currentShard }) => currentShard === 1);
      // The old master of the first shard, a replica by now: it must come back in the version that its shard has.
      await deletePod(world, 'cache-0-0');
      await awaitUpgradePhase(world, 'in-place', 'Completed');
      await world.awaitPhase('Running');
    });
    console.log(JSON.stringify(report));
    expect(report).toMatchObject({ lost: [], wentBack: [] });
    expect(report.writes).toBeGreaterThan(100);
    expect(await tagsOf(world)).toEqual(['9.1.2']);
    expect(await wrongWith(world, 3, 1)).toBeNull();
    expect(await wantedTag(world)).toBe('9.1.2');
  });

  it('is told in the Web UI: what it was for, and the story of each shard', async () => {
    const shots = mkdtempSync(join(tmpdir(), 'keelson-screenshots-'));
    const browser = await Browser.open();
    try {
      const ui = new WebUi(browser.page, world.stack.temporalUiUrl, shots);
      const { upgrade, shard } = await findUpgrade(world);
      await ui.open(upgrade, 'user-metadata', 'COMPLETED');
      const whole = await ui.readMetadata();
      expect(whole.summary).toBe('upgrade: 3 masters with 1 replica each from 9.0.0 to 9.1.2');
      expect(whole.details).toMatch(/✓ \d+ HandOver: cache-2-\d takes over shard 2/);
      await ui.shoot('web-ui-upgrade');

      await ui.open(shard, 'user-metadata', 'COMPLETED');
      expect((await ui.readMetadata()).summary).toBe('upgrade shard 0 to 9.1.2');
      await ui.open(shard, 'timeline', 'COMPLETED');
      await ui.whileTall(async () => {
        for (const step of ['2 RestartPod: cache-0-', '3 HandOver: cache-0-', '4 RestartPod: cache-0-'])
          await ui.expectText(new RegExp(step));
        await ui.expectText('at most 60 s for the handover to cache-0-');
      });
    } finally {
      await browser[Symbol.asyncDispose]();
      rmSync(shots, { recursive: true, force: true });
    }
  });
});

/** The upgrade that was complete, and its first shard; a list of workflows is a moment behind. */
async function findUpgrade(world: ClusterWorld): Promise<{ readonly upgrade: Run; readonly shard: Run }> {
  const client = await world.temporal();
  return world.until(async () => {
    const query = `KeelsonNamespace = "${world.namespace}" AND ExecutionStatus = "Completed"`;
    const runs: Run[] = [];
    // The newest come first, and the pod that went may have made it plan anew.
    for await (const run of client.workflow.list({ query })) runs.push(run);
    const shard = runs.find(({ workflowId }) => /\/upgrade\/.*\/shard-0$/.test(workflowId));
    const upgrade = runs.find(({ workflowId }) => /\/upgrade\/[^/]+$/.test(workflowId));
    return shard === undefined || upgrade === undefined
      ? { missing: 'an upgrade and its first shard in the list' }
      : { found: { upgrade, shard } };
  });
}

const deletePod = (world: ClusterWorld, name: string): Promise<unknown> =>
  world.api.send('DELETE', `/api/v1/namespaces/${world.namespace}/pods/${name}`);
