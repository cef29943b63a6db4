import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { connectForMigration, databaseOf } from './connection.ts';

/** One file of SQL. Each can be run again from its beginning: the server commits every change of a table by itself. */
interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** What became of the migrations: which were there, and which were applied now. */
export interface Migrated {
  readonly database: string;
  readonly applied: readonly string[];
  readonly present: readonly string[];
}

const DIRECTORY = new URL('../../activities/mysql/migrations/', import.meta.url);
const LOCK = 'keelson_migrations';
const LOCK_SECONDS = 30;

/** Brings the schema up to date, file by file and in order, each of them once; several callers take turns. */
export async function migrateDatabase(url: string): Promise<Migrated> {
  const database = databaseOf(url);
  const connection = await connectForMigration(url);
  try {
    await connection.query('CREATE DATABASE IF NOT EXISTS ?? CHARACTER SET utf8mb4', [database]);
    await connection.changeUser({ database });
    await takeLock(connection);
    return { database, ...(await applyMissing(connection)) };
  } finally {
    // The lock ends with the connection.
    await connection.end();
  }
}

async function takeLock(connection: Connection): Promise<void> {
  const [rows] = await connection.query<RowDataPacket[]>('SELECT GET_LOCK(?, ?) AS taken', [
    LOCK,
    LOCK_SECONDS,
  ]);
  if (rows[0]?.['taken'] !== 1)
    throw new Error(`another migration has been running for ${LOCK_SECONDS} s: try again when it has ended`);
}

async function applyMissing(connection: Connection): Promise<Omit<Migrated, 'database'>> {
  await connection.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
    name VARCHAR(190) NOT NULL PRIMARY KEY,
    checksum CHAR(64) NOT NULL,
    applied_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
  ) ENGINE = InnoDB`);
  const [rows] = await connection.query<RowDataPacket[]>('SELECT name, checksum FROM schema_migrations');
  const recorded = new Map(rows.map((row) => [String(row['name']), String(row['checksum'])]));
  const applied: string[] = [];
  for (const { name, sql, checksum } of readMigrations()) {
    const before = recorded.get(name);
    if (before === checksum) continue;
    if (before !== undefined)
      throw new Error(`${name} was applied with other words than it has now: add a new file in its place`);
    await connection.query(sql);
    await connection.query('INSERT INTO schema_migrations (name, checksum) VALUES (?, ?)', [name, checksum]);
    applied.push(name);
  }
  return { applied, present: [...recorded.keys()].toSorted() };
}

function readMigrations(): readonly Migration[] {
  return readdirSync(DIRECTORY)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => {
      const sql = readFileSync(new URL(name, DIRECTORY), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}
