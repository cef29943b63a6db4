import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defaultHomeDirectory, openHome } from '../../deploy/local/home.ts';
import { badInput } from './cli-error.ts';

/** The database that a command means: the one that it is told, that of the environment, or the embedded one. */
export async function databaseUrl(said: string | undefined): Promise<string> {
  const url = said ?? process.env['KEELSON_MYSQL_URL'] ?? (await embeddedUrl());
  if (url === null)
    throw badInput(
      'no database is named',
      'Give --url mysql://user@host:port/name, set KEELSON_MYSQL_URL, or run "keelson up --with mariadb".',
    );
  if (!URL.canParse(url) || new URL(url).protocol !== 'mysql:')
    throw badInput('the URL of the database must look like mysql://user:password@host:port/name');
  return url;
}

async function embeddedUrl(): Promise<string | null> {
  if (!existsSync(join(defaultHomeDirectory(), 'state.json'))) return null;
  const { contextOf, findPart, readSettings } = await import('../../deploy/local/settings.ts');
  const home = openHome();
  const settings = readSettings(home);
  if (settings === undefined || !settings.parts.includes('mariadb')) return null;
  const part = findPart('mariadb');
  const address = part.addresses(contextOf(home, settings.portOffset, part))['sql'];
  return address === undefined ? null : `${address}/keelson`;
}
