import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_VERSION } from '../../../workflows/valkey-cluster/domain/names.ts';
import { UPGRADE_KIND } from '../../../workflows/valkey-upgrade/domain/resource.ts';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import type { PlanEnvelope } from '../../../workflows/shared/plan.ts';
import type { ValkeyCommand } from '../../../workflows/valkey-cluster/domain/commands.ts';
import { wrongWith } from '../../valkey/server-view.ts';
import {
  applyUpgrade,
  awaitUpgrade,
  awaitUpgradePhase,
  deleteUpgrade,
  readUpgrade,
  tagsOf,
} from '../../valkey/upgrade-world.ts';
import { keelson, type Ended } from '../starter/command-line.ts';
import { clusterOn, wantedTag } from './under-load.ts';

const FAST = { strategy: 'InPlace', stabilitySeconds: 0 } as const;

describe('people and a running upgrade', () => {
  let world: ClusterWorld;
  beforeAll(async () => {
    world = await clusterOn('9.0.0', 1);
  });
  afterAll(() => world.remove());

  /** A command line, as a person types it. */
  const type = (...words: readonly string[]): Promise<Ended> =>
    keelson(words, {
      TEMPORAL_ADDRESS: world.stack.temporalAddress,
      KUBECONFIG: world.stack.kubeconfig('admin'),
    });

  /** What `keelson plan` says of an upgrade that nobody has created. */
  async function planOf(spec: object): Promise<Ended> {
    const directory = mkdtempSync(join(tmpdir(), 'keelson-upgrade-'));
    try {
      const file = join(directory, 'upgrade.yaml');
      const metadata = { name: 'planned', namespace: world.namespace };
      const upgrade = { apiVersion: API_VERSION, kind: UPGRADE_KIND, metadata, spec };
      // JSON is YAML too.
      writeFileSync(file, JSON.stringify(upgrade));
      return await type('plan', '-f', file, '-o', 'json');
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  it('the plan of an upgrade is shown before anybody creates it, and nothing is written for it', async () => {
    const spec = { clusterRef: { name: world.name }, targetVersion: '9.1.2', ...FAST };
    const { code, out } = await planOf(spec);
    expect(code).toBe(0);
    const plan = JSON.parse(out) as PlanEnvelope<ValkeyCommand>;
    expect(plan).toMatchObject({
      resource: `${world.namespace}/${world.name}`,
      operation: 'upgrade',
      blocked: [],
      unknown: [],
    });
    const each = ['CreateShard', 'RestartPod', 'HandOver', 'RestartPod'];
    expect(plan.steps.map(({ kind }) => kind)).toEqual([...each, ...each, ...each, 'VerifyHealth']);
    const older = await planOf({ ...spec, targetVersion: '8.1.8' });
    expect(older.out + older.err).toMatch(/allowDowngrade/);
    expect(await readUpgrade(world, 'planned')).toBeNull();
    expect(await tagsOf(world)).toEqual(['9.0.0']);
    expect(await wantedTag(world)).toBe('9.0.0');
  });

  /** Waits until the upgrade asks, and agrees, by the very line that it is told. */
  async function approve(name: string, shard: number): Promise<void> {
    const asks = (message: string | undefined): boolean =>
      message?.includes('waits for approval') === true && message.includes(`approval of shard ${shard}:`);
    const { status } = await awaitUpgrade(world, name, 'asks', ({ message }) => asks(message));
    const line = /keelson (approve .*)$/.exec(status?.message ?? '')?.[1] ?? '';
    expect(await type(...line.split(' '), '--reason', 'looked at it')).toMatchObject({ code: 0 });
  }

  it('a shard that somebody leaves out stays as it is, and each other one is asked for', async () => {
    const skip = ['skip-shard', world.entityId, '--shard', '1', '--reason', 'its owner asks'];
    const early = await type(...skip);
    expect(early.code).not.toBe(0);
    expect(early.err).toMatch(/no upgrade/);
    await applyUpgrade(world, 'asking', '9.1.2', { ...FAST, approval: 'EachShard' });
    await awaitUpgrade(
      world,
      'asking',
      'asks',
      ({ message }) => message?.includes('waits for approval') === true,
    );
    expect(await tagsOf(world)).toEqual(['9.0.0']);
    expect(await type(...skip)).toMatchObject({ code: 0 });
    await approve('asking', 0);
    await approve('asking', 2);
    const seen = await awaitUpgradePhase(world, 'asking', 'Completed');
    expect(seen.status?.shardStatuses?.map(({ status }) => status)).toEqual([
      'Completed',
      'Skipped',
      'Completed',
    ]);
    expect(seen.status?.message).toMatch(/shard 1 was left out/);
    expect(await tagsOf(world)).toEqual(['9.0.0', '9.1.2']);
    expect(await wantedTag(world)).toBe('9.0.0');
    expect(await wrongWith(world, 3, 1)).toBeNull();
  });

  it('a cancelled upgrade goes back, a deleted one ends with its shard, and the next one does the rest', async () => {
    await applyUpgrade(world, 'cancelled', '9.1.2', FAST);
    await awaitUpgrade(world, 'cancelled', 'begun', ({ currentShard }) => currentShard === 1);
    expect(await type('cancel', world.entityId, '--reason', 'not today')).toMatchObject({ code: 0 });
    const seen = await awaitUpgradePhase(world, 'cancelled', 'RolledBack');
    expect(seen.status?.errorMessage).toBe('cancelled: not today');
    expect(await tagsOf(world)).toEqual(['9.0.0']);

    await applyUpgrade(world, 'deleted', '9.1.2', FAST);
    await awaitUpgrade(world, 'deleted', 'begun', ({ currentShard }) => currentShard === 0);
    await deleteUpgrade(world, 'deleted');
    const told = await world.until(async () => {
      const { conditions = [] } = (await world.read())?.status ?? {};
      const held = conditions.find(({ reason }) => reason === 'VersionsDiffer');
      return held === undefined ? { missing: 'what is left to do' } : { found: held.message };
    });
    expect(told).toMatch(/shards 1 and 2 on 9\.0\.0, shard 0 on 9\.1\.2.*targetVersion 9\.1\.2/);
    expect(await wrongWith(world, 3, 1)).toBeNull();

    await applyUpgrade(world, 'rest', '9.1.2', FAST);
    await awaitUpgradePhase(world, 'rest', 'Completed');
    expect(await tagsOf(world)).toEqual(['9.1.2']);
    expect(await wrongWith(world, 3, 1)).toBeNull();
  });
});
