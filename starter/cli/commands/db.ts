import { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { databaseUrl } from '../database-url.ts';
import { examples, outputOption, print, printJson, type OutputFormat } from '../output.ts';

/** `keelson db`: the schema of the database of the spot agents. */
export function command(): Command {
  const db = new Command('db').description('Look after the database of the spot agents.');
  db.command('migrate')
    .description('Bring the schema up to date, file by file and in order, each of them once.')
    .option(
      '--url <url>',
      'the database, as mysql://user:password@host:port/name (default: KEELSON_MYSQL_URL)',
    )
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples(
        ['keelson db migrate', 'the database of KEELSON_MYSQL_URL, or of the embedded stack'],
        ['keelson db migrate --url mysql://root@127.0.0.1:13306/keelson', 'this one'],
      ),
    )
    .action((options: { readonly url?: string; readonly output: OutputFormat }) => migrate(options));
  return db;
}

async function migrate(options: { readonly url?: string; readonly output: OutputFormat }): Promise<void> {
  const url = await databaseUrl(options.url);
  const { migrateDatabase } = await import('../../database/migrations.ts');
  try {
    const migrated = await migrateDatabase(url);
    if (options.output === 'json') return printJson(migrated);
    const { database, applied, present } = migrated;
    print(
      applied.length === 0
        ? `${database} is up to date (${present.length} migrations)`
        : `${database}: applied ${applied.join(', ')}`,
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CliError(`the database cannot be migrated: ${message}`, {
      remedy: 'Check that the server runs and that the user may create tables and procedures.',
      cause: error,
    });
  }
}
