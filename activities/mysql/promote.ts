import { failureOf } from '../../workflows/shared/failures.ts';
import type { MysqlClient } from './client.ts';
import type { MysqlActivities, Promotion } from './contract.ts';

/** Where promotions are counted. */
export interface PromotionMeasures {
  promoted(seconds: number): void;
  failed(reason: string): void;
}

/** Counts nothing. */
export const noPromotionMeasures: PromotionMeasures = { promoted: () => {}, failed: () => {} };

/** Promotes, and counts how it went; a success that was found is not counted again. */
export async function promoteMeasured(
  mysql: MysqlClient,
  measures: PromotionMeasures,
  promotion: Promotion,
): Promise<Awaited<ReturnType<MysqlActivities['promoteSpotInstance']>>> {
  try {
    const promoted = await promoteInstance(mysql, promotion);
    if (!promoted.repeated) measures.promoted(promoted.seconds);
    return promoted;
  } catch (error) {
    measures.failed(failureOf(error)?.code ?? 'Defect');
    throw error;
  }
}

/** Promotes by the stored procedure, and takes its own earlier success for success. */
async function promoteInstance(
  mysql: MysqlClient,
  { agentId, instanceId, expectedEpoch }: Promotion,
): Promise<Awaited<ReturnType<MysqlActivities['promoteSpotInstance']>>> {
  const startedAtMs = Date.now();
  const seconds = (): number => (Date.now() - startedAtMs) / 1000;
  const epoch = expectedEpoch + 1;
  const mutation = { system: 'mysql', verb: 'promote', target: instanceId };
  try {
    await mysql.write(mutation, 'CALL promote_instance_to_primary(?, ?, ?)', [
      instanceId,
      agentId,
      expectedEpoch,
    ]);
    return { epoch, repeated: false, seconds: seconds() };
  } catch (error) {
    // An attempt whose answer was lost has moved the epoch itself.
    if (failureOf(error)?.code !== 'VersionConflict') throw error;
    if (!(await holds(mysql, { agentId, instanceId, epoch }))) throw error;
    return { epoch, repeated: true, seconds: seconds() };
  }
}

async function holds(
  mysql: MysqlClient,
  want: { readonly agentId: string; readonly instanceId: string; readonly epoch: number },
): Promise<boolean> {
  const rows = await mysql.read(
    `SELECT 1 FROM agents JOIN instances ON instances.agent_id = agents.id AND instances.is_primary
      WHERE agents.id = ? AND agents.epoch = ? AND instances.id = ? AND instances.epoch = agents.epoch`,
    [want.agentId, want.epoch, want.instanceId],
  );
  return rows.length > 0;
}
