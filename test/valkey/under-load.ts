import { expect } from 'vitest';
import { Audit, type AuditReport } from './audit.ts';
import type { ClusterWorld } from './cluster-world.ts';

const WRITES_FIRST = 1_500;
/** Writers at full speed would write more than a move that is slowed down could ever carry. */
const REST_MS = 20;

/** Does something under light load, and holds that nothing that was written is lost and no client was turned away. */
export async function underLoad(world: ClusterWorld, work: () => Promise<void>): Promise<AuditReport> {
  const audit = await Audit.start(world, { restMs: REST_MS });
  try {
    await audit.reached(WRITES_FIRST);
    await work();
  } finally {
    await audit.stop();
  }
  const report = await audit.stop();
  console.log(JSON.stringify(report));
  expect(report).toMatchObject({ lost: [], wentBack: [] });
  // No slot may arrive at a master that still refuses clients.
  expect(Object.keys(report.errors).filter((error) => error.includes('CLUST'))).toEqual([]);
  return report;
}
