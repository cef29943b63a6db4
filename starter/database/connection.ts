import { createConnection, type Connection } from 'mysql2/promise';

/** How every connection to the database behaves: times are UTC, numbers that fit are numbers. */
const SETTINGS = { timezone: 'Z', supportBigNumbers: true, connectTimeout: 5_000 } as const;

/** The database that a URL names, `keelson` when it names none. */
export const databaseOf = (url: string): string =>
  decodeURIComponent(new URL(url).pathname.slice(1)) || 'keelson';

/** One connection that may send whole files of SQL, to no database in particular. */
export function connectForMigration(url: string): Promise<Connection> {
  const server = new URL(url);
  server.pathname = '/';
  return createConnection({ uri: server.href, multipleStatements: true, ...SETTINGS });
}
