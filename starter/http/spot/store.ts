import type { Pool, PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { Refusal } from './refusal.ts';

/** A value that a statement may be given. */
type Value = string | number | boolean | null;

/** One row as the driver gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** Something that statements can be sent to: the pool, or one connection within a transaction. */
export interface Session {
  read(sql: string, ...values: readonly Value[]): Promise<readonly Row[]>;
  write(sql: string, ...values: readonly Value[]): Promise<number>;
}

/** The database as the API uses it. */
export interface Store extends Session {
  /** All or nothing; a deadlock is a server that is busy, and the caller may come again. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

const BUSY: ReadonlySet<unknown> = new Set([1205, 1213, 1040, 1203]);

const DUPLICATE = 1062;

/** Whether a row could not be written because there is one like it. */
export const isDuplicate = (error: unknown): boolean => errnoOf(error) === DUPLICATE;

const errnoOf = (error: unknown): unknown =>
  error instanceof Error && 'errno' in error ? error.errno : undefined;

/** Gives the database words in which the API speaks. */
export function createStore(pool: Pool): Store {
  return {
    ...sessionOf(pool),
    transaction: async (work) => {
      const connection = await guarded(() => pool.getConnection());
      try {
        await guarded(() => connection.beginTransaction());
        const result = await work(sessionOf(connection));
        await guarded(() => connection.commit());
        return result;
      } catch (error) {
        await connection.rollback().catch(() => connection.destroy());
        throw error;
      } finally {
        connection.release();
      }
    },
  };
}

function sessionOf(target: Pool | PoolConnection): Session {
  const query = <T extends RowDataPacket[] | ResultSetHeader>(
    sql: string,
    values: readonly Value[],
  ): Promise<T> => guarded(async () => (await target.query<T>({ sql, timeout: 5_000 }, [...values]))[0]);
  return {
    read: (sql, ...values) => query<RowDataPacket[]>(sql, values),
    write: async (sql, ...values) => (await query<ResultSetHeader>(sql, values)).affectedRows,
  };
}

/** A database that does not answer is no fault of the request, and no defect of ours. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const answered = error instanceof Error && 'sqlState' in error;
    if (answered && !BUSY.has(errnoOf(error))) throw error;
    throw new Refusal(503, 'UNAVAILABLE', 'the database does not answer: try again', { cause: error });
  }
}
