import { Command } from 'commander';
import type { Pool } from 'mysql2/promise';
import { badInput, CliError } from '../cli-error.ts';
import { databaseUrl } from '../database-url.ts';
import { examples, outputOption, print, printJson, say, table, type OutputFormat } from '../output.ts';

interface SpotOptions {
  readonly url?: string;
  readonly output: OutputFormat;
}

const URL_OPTION = ['--url <url>', 'the database (default: KEELSON_MYSQL_URL, or the embedded one)'] as const;

/** `keelson spot`: who may use the API of the spot agents. */
export function command(): Command {
  const spot = new Command('spot').description('Look after the clients of the spot agents.');
  const client = spot.command('client').description('Clients, and the tokens that they show.');
  client
    .command('add')
    .description('Add a client, and print its token, which is shown this once only.')
    .argument('<name>', 'what people call it')
    .option(...URL_OPTION)
    .addOption(outputOption())
    .addHelpText('after', examples(['keelson spot client add "the shop"', 'a token for the shop']))
    .action((name: string, options: SpotOptions) => addClient(name, options));
  client
    .command('list')
    .description('List the clients.')
    .option(...URL_OPTION)
    .addOption(outputOption())
    .action((options: SpotOptions) => listClients(options));
  return spot;
}

async function addClient(name: string, options: SpotOptions): Promise<void> {
  if (name.trim() === '' || name.length > 190) throw badInput('a name has 1 to 190 characters');
  await withDatabase(options, async (pool) => {
    const clients = await import('../../http/spot/clients.ts');
    const added = await clients.addClient(pool, name);
    if (options.output === 'json') return printJson(added);
    say(`${added.name} is ${added.id}. Its token is shown once, and only its hash is stored:`);
    print(added.token);
  });
}

async function listClients(options: SpotOptions): Promise<void> {
  await withDatabase(options, async (pool) => {
    const clients = await import('../../http/spot/clients.ts');
    const all = await clients.listClients(pool);
    if (options.output === 'json') return printJson(all);
    print(table([['ID', 'NAME', 'SINCE'], ...all.map((one) => [one.id, one.name, one.createdAt])]));
  });
}

async function withDatabase(options: SpotOptions, work: (pool: Pool) => Promise<void>): Promise<void> {
  const url = await databaseUrl(options.url);
  const { openDatabase } = await import('../../database/connection.ts');
  const pool = openDatabase(url);
  try {
    await work(pool);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CliError(`the database refuses: ${message}`, {
      remedy: 'Check that it runs, and that "keelson db migrate" was run.',
      cause: error,
    });
  } finally {
    await pool.end();
  }
}
