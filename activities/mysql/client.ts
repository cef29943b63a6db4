import {
  createPool,
  type Pool,
  type PoolConnection,
  type ResultSetHeader,
  type RowDataPacket,
} from 'mysql2/promise';
import { attemptSignal } from '../attempt.ts';
import { mutate, type Mutation, type MutationHook } from '../mutations.ts';
import { asMysqlFailure } from './errors.ts';

/** A value that a statement may be given. */
export type SqlValue = string | number | boolean | Date | null;

/** One row as the driver gives it. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** The database as activities use it. */
export interface MysqlClient {
  read(sql: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Runs one statement that changes something, and says how many rows it changed. */
  write(mutation: Mutation, sql: string, values?: readonly SqlValue[]): Promise<number>;
  close(): Promise<void>;
}

/** No statement takes longer: a promotion that does has failed. */
const STATEMENT_MS = 5_000;

/** Opens a pool. Reads see what is committed, and nothing waits longer than five seconds for a lock. */
export function createMysqlClient(url: string, hook: MutationHook, connections = 20): MysqlClient {
  const pool = createPool({
    uri: url,
    connectionLimit: connections,
    connectTimeout: STATEMENT_MS,
    timezone: 'Z',
    supportBigNumbers: true,
    // A row that was written with its old values is found, although nothing changed.
    flags: ['FOUND_ROWS'],
  });
  pool.pool.on('connection', (connection) => {
    connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    connection.query("SET SESSION innodb_lock_wait_timeout = 5, time_zone = '+00:00'");
  });
  const run = async <T>(sql: string, values: readonly SqlValue[]): Promise<T> => {
    try {
      const [answer] = await withConnection(pool, (connection) =>
        connection.query({ sql, timeout: STATEMENT_MS, values: [...values] }),
      );
      return answer as T;
    } catch (error) {
      throw asMysqlFailure(error);
    }
  };
  return {
    read: (sql, values = []) => run<RowDataPacket[]>(sql, values),
    write: (mutation, sql, values = []) =>
      mutate(hook, mutation, async () => (await run<ResultSetHeader>(sql, values)).affectedRows),
    close: () => pool.end(),
  };
}

/** A connection on which a statement failed for its time is not given to the next: it may still be busy with it. */
async function withConnection<T>(pool: Pool, work: (connection: PoolConnection) => Promise<T>): Promise<T> {
  attemptSignal().throwIfAborted();
  const connection = await pool.getConnection();
  try {
    const answer = await work(connection);
    connection.release();
    return answer;
  } catch (error) {
    if (error instanceof Error && 'sqlState' in error) connection.release();
    else connection.destroy();
    throw error;
  }
}
