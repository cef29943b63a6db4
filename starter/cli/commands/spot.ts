import { Command } from 'commander';
import type { Pool } from 'mysql2/promise';
import { badInput, CliError } from '../cli-error.ts';
import { databaseUrl } from '../database-url.ts';
import { examples, outputOption, print, printJson, say, table, type OutputFormat } from '../output.ts';

interface SpotOptions {
  readonly url?: string;
  readonly output: OutputFormat;
}

interface RemoveOptions extends SpotOptions {
  readonly keepAgents?: boolean;
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
  client
    .command('rotate')
    .description(
      'Give a client another token, which is shown this once only; the old one is refused at once.',
    )
    .argument('<name>', 'its name, or its id where several have the name')
    .option(...URL_OPTION)
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples(
        ['keelson spot client rotate "the shop"', 'another token for the shop'],
        ['keelson spot client rotate cl-0123456789abcdef', 'for one of several of that name'],
      ),
    )
    .action((name: string, options: SpotOptions) => rotateClient(name, options));
  client
    .command('remove')
    .description('Remove a client: its token is refused at once.')
    .argument('<name>', 'its name, or its id where several have the name')
    .option(
      '--keep-agents',
      'also while it has agents, which then go on without anybody who may ask for them',
    )
    .option(...URL_OPTION)
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples(
        ['keelson spot client remove "the shop"', 'a client without agents'],
        ['keelson spot client remove "the shop" --keep-agents', 'a token that nobody may use any more'],
      ),
    )
    .action((name: string, options: RemoveOptions) => removeClient(name, options));
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

async function rotateClient(name: string, options: SpotOptions): Promise<void> {
  await withDatabase(options, async (pool) => {
    const clients = await import('../../http/spot/clients.ts');
    const { id } = selectClient(name, await clients.findClients(pool, name));
    const token = await clients.rotateClient(pool, id);
    if (options.output === 'json') return printJson({ id, name, token });
    say(
      `${id} has another token, and the old one is refused. It is shown once, and only its hash is stored:`,
    );
    print(token);
  });
}

async function removeClient(name: string, options: RemoveOptions): Promise<void> {
  await withDatabase(options, async (pool) => {
    const clients = await import('../../http/spot/clients.ts');
    const { id, agents } = selectClient(name, await clients.findClients(pool, name));
    if (agents > 0 && options.keepAgents !== true)
      throw new CliError(`${id} has agents: ${agents}. Nobody could ask for them any more.`, {
        remedy: 'With --keep-agents it is removed, and they go on as they are.',
      });
    await clients.removeClient(pool, id);
    if (options.output === 'json') return printJson({ id, removed: true });
    say(`${id} is removed, and its token is refused.`);
  });
}

/** The one client that is meant; where there is none or are several, nothing is done to any. */
function selectClient<T extends { readonly id: string }>(name: string, found: readonly T[]): T {
  const [client] = found;
  if (client === undefined)
    throw new CliError(`there is no client ${name}`, { remedy: '"keelson spot client list" shows them.' });
  if (found.length > 1)
    throw badInput(
      `${found.length} clients are called ${name}`,
      `Give the id: ${found.map((one) => one.id).join(', ')}.`,
    );
  return client;
}

async function withDatabase(options: SpotOptions, work: (pool: Pool) => Promise<void>): Promise<void> {
  const url = await databaseUrl(options.url);
  const { openDatabase } = await import('../../database/connection.ts');
  const pool = openDatabase(url);
  try {
    await work(pool);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new CliError(`the database refuses: ${message}`, {
      remedy: 'Check that it runs, and that "keelson db migrate" was run.',
      cause: error,
    });
  } finally {
    await pool.end();
  }
}
