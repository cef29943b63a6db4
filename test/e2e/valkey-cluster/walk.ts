import { setTimeout as sleep } from 'node:timers/promises';
import { useStack } from '../../../deploy/local/testing.ts';
import type { EntityStatus } from '../../../workflows/shared/messages.ts';
import { Random } from '../../simulation/engine/random.ts';
import { Audit, type AuditReport } from '../../valkey/audit.ts';
import { ClusterWorld } from '../../valkey/cluster-world.ts';
import { wrongWith } from '../../valkey/server-view.ts';

const STEPS = 5;
const MOVES = ['wish', 'wish', 'kill a pod', 'kill the worker', 'cancel'] as const;

const BASE = {
  auth: { secretRef: { name: 'cache-auth' } },
  persistence: { size: '64Mi', retention: 'Delete' },
} as const;

/**
 * One seeded walk of a real cluster that is written to: wishes, kills and cancellations, each whenever it comes. It ends
 * when the last wish is carried out; what became of the writes, it answers.
 */
export async function walk(seed: number): Promise<{ readonly story: string; readonly report: AuditReport }> {
  const random = new Random(`real-walk-${seed}`);
  const world = await ClusterWorld.create(await useStack());
  const wish = () => ({ masters: random.between(3, 5), replicasPerMaster: random.between(1, 2) });
  const story: string[] = [];
  try {
    const first = wish();
    await world.applyWithSecret({ ...BASE, ...first });
    await world.awaitPhase('Running');
    // A killed master may lose what no replica had: only confirmed writes are held to be there.
    const audit = await Audit.start(world, { confirmedBy: 1, restMs: 10 });
    try {
      for (let step = 0; step < STEPS; step += 1) {
        const move = random.pick(MOVES);
        story.push(move);
        await makeMove(world, random, move, wish);
        // Most operations take longer: the next move meets the one before, now at its start and now at its end.
        await sleep(random.between(0, 4_000));
      }
      const last = wish();
      story.push(JSON.stringify(last));
      await world.apply({ ...BASE, ...last });
      await world.until(async () => {
        await askAgain(world);
        const wrong = await wrongWith(world, last.masters, last.replicasPerMaster).catch(String);
        const { phase, observedGeneration } = (await world.read())?.status ?? {};
        const generation = (await world.read())?.metadata.generation;
        return wrong === null && phase === 'Running' && observedGeneration === generation
          ? { found: true }
          : { missing: `the last wish after ${story.join(', ')}; ${wrong ?? ''}, phase ${phase ?? ''}` };
      }, 240);
    } finally {
      await audit.stop();
    }
    const report = await audit.stop();
    console.log(JSON.stringify({ seed, story, ...report }));
    return { story: story.join(', '), report };
  } finally {
    await world.remove();
  }
}

/** The last wish may be the one that was cancelled, which is not carried out unless it is asked for again. */
async function askAgain(world: ClusterWorld): Promise<void> {
  const handle = (await world.temporal()).workflow.getHandle(world.entityId);
  const { waiting } = await handle.query<EntityStatus>('status');
  if (waiting?.on === 'cancelled') await handle.executeUpdate('retry');
}

async function makeMove(
  world: ClusterWorld,
  random: Random,
  move: (typeof MOVES)[number],
  wish: () => object,
): Promise<void> {
  switch (move) {
    case 'wish':
      await world.apply({ ...BASE, ...wish() });
      return;
    case 'kill a pod': {
      const [one, ...others] = await world.list('pods');
      if (one === undefined) return;
      const { name } = random.pick([one, ...others]).metadata;
      await world.api.send('DELETE', `/api/v1/namespaces/${world.namespace}/pods/${name}`, {
        gracePeriodSeconds: 0,
      });
      return;
    }
    case 'kill the worker': {
      await world.stack.part('worker').renew();
      return;
    }
    case 'cancel': {
      const handle = (await world.temporal()).workflow.getHandle(world.entityId);
      // Nothing may be under way to be cancelled: the refusal is as good an answer.
      await handle.executeUpdate('cancelOperation', { args: [{ reason: 'a whim' }] }).catch(() => null);
    }
  }
}
