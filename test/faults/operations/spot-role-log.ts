import type { DatabaseStage } from '../../conformance/spot-agent/database-stage.ts';

/** One change of who is PRIMARY, as the database itself wrote it down. */
interface RoleChange {
  readonly instance: string;
  /** 1 when it became PRIMARY, -1 when it ceased to be. */
  readonly step: number;
  readonly connection: number;
  readonly inTransaction: boolean;
}

const LOG = `CREATE TABLE role_log (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  agent_id VARCHAR(64) NOT NULL,
  instance_id VARCHAR(64) NOT NULL,
  step TINYINT NOT NULL,
  connection BIGINT NOT NULL,
  in_transaction BOOLEAN NOT NULL,
  KEY idx_role_log_agent (agent_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`;

const trigger = (event: 'INSERT' | 'UPDATE' | 'DELETE', step: string): string => {
  const row = event === 'DELETE' ? 'OLD' : 'NEW';
  return `CREATE TRIGGER role_log_${event.toLowerCase()} AFTER ${event} ON instances FOR EACH ROW
    INSERT INTO role_log (agent_id, instance_id, step, connection, in_transaction)
    SELECT ${row}.agent_id, ${row}.id, ${step}, CONNECTION_ID(), @@in_transaction FROM DUAL WHERE ${step} <> 0`;
};

/**
 * Lets the database write down each change of who is PRIMARY, within the transaction that makes it: what was rolled
 * back is not there, and nothing that was committed is missing, however short it lasted.
 */
export async function keepRoleLog(database: DatabaseStage): Promise<void> {
  await database.run(LOG);
  await database.run(trigger('INSERT', 'CAST(NEW.is_primary AS SIGNED)'));
  await database.run(trigger('UPDATE', 'CAST(NEW.is_primary AS SIGNED) - CAST(OLD.is_primary AS SIGNED)'));
  await database.run(trigger('DELETE', '-CAST(OLD.is_primary AS SIGNED)'));
}

/** Null when an agent had exactly one PRIMARY at every committed instant since its first one, else what was found. */
export async function findGap(database: DatabaseStage, agent: string): Promise<string | null> {
  const rows = await database.rows(
    'SELECT instance_id, step, connection, in_transaction FROM role_log WHERE agent_id = ? ORDER BY id',
    agent,
  );
  const [first, ...changes] = rows.map((row): RoleChange => ({
    instance: String(row['instance_id']),
    step: Number(row['step']),
    connection: Number(row['connection']),
    inTransaction: row['in_transaction'] === 1,
  }));
  if (first?.step !== 1) return `${agent} never had a PRIMARY`;
  for (let at = 0; at < changes.length; at += 2) {
    const [before, after] = [changes[at], changes[at + 1]];
    // One transaction takes the role from one instance and gives it to another: between two commits nobody misses it.
    const isMove =
      before?.step === -1 &&
      after?.step === 1 &&
      before.inTransaction &&
      after.inTransaction &&
      before.connection === after.connection;
    if (!isMove) return `${agent}: ${JSON.stringify([before, after])} is no move of the role`;
  }
  const [row] = await database.rows('SELECT epoch FROM agents WHERE id = ?', agent);
  const moves = changes.length / 2;
  return Number(row?.['epoch']) === moves
    ? null
    : `${agent} moved ${moves} times and has epoch ${String(row?.['epoch'])}`;
}
