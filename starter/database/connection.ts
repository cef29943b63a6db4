import { createConnection, createPool, type Connection, type Pool } from 'mysql2/promise';

/** How every connection to the database behaves: times are UTC, numbers that fit are numbers. */
const SETTINGS = { timezone: 'Z', supportBigNumbers: true, connectTimeout: 5_000 } as const;

/** The database that a URL names, `keelson` when it names none. */
export const databaseOf = (url: string): string =>
  decodeURIComponent(new URL(url).pathname.slice(1)) || 'keelson';

/** Connections for a service. Reads see what is committed, and nothing waits longer than five seconds for a lock. */
export function openDatabase(url: string): Pool {
  const pool = createPool({
    uri: url,
    database: databaseOf(url),
    connectionLimit: 20,
    flags: ['FOUND_ROWS'],
    ...SETTINGS,
  });
  pool.pool.on('connection', (connection) => {
    connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    connection.query("SET SESSION innodb_lock_wait_timeout = 5, time_zone = '+00:00'");
  });
  return pool;
}

/** One connection that may send whole files of SQL, to no database in particular. */
export function connectForMigration(url: string): Promise<Connection> {
  const server = new URL(url);
  server.pathname = '/';
  return createConnection({ uri: server.href, multipleStatements: true, ...SETTINGS });
}
