import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { BAD_INPUT, explain } from './cli-error.ts';
import { COMMANDS } from './command-table.ts';
import type { CommandRow } from './command-table.ts';

/** Runs one `keelson` command line and answers its exit code. */
export async function main(argv: readonly string[], rows: readonly CommandRow[] = COMMANDS): Promise<number> {
  try {
    const program = await buildProgram(argv, rows);
    await program.parseAsync(['node', 'keelson', ...argv]);
    return exitCodeOf(process.exitCode);
  } catch (error) {
    if (error instanceof CommanderError) return exitCodeOfParser(error);
    const { text, exitCode } = explain(error);
    process.stderr.write(`keelson: ${text}\n`);
    if (process.env['KEELSON_DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    return exitCode;
  }
}

/** The program with every verb by name, of which only the one that was called is really loaded. */
async function buildProgram(argv: readonly string[], rows: readonly CommandRow[]): Promise<Command> {
  const program = new Command('keelson')
    .description('Lifecycles of stateful infrastructure as durable Temporal workflows.')
    .version(readVersion(), '--version')
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('(run with --help to see how it is used)');
  const wanted = argv[0] === 'help' ? argv[1] : argv[0];
  for (const row of rows) {
    const command = row.name === wanted ? (await row.load()).command() : new Command(row.name);
    program.addCommand(
      command.name(row.name).summary(row.summary).exitOverride().copyInheritedSettings(program),
    );
  }
  return program;
}

/** Help and version end well; every other refusal of the parser is bad input. */
function exitCodeOfParser(error: CommanderError): number {
  return error.exitCode === 0 ? 0 : BAD_INPUT;
}

function exitCodeOf(code: number | string | null | undefined): number {
  return typeof code === 'number' ? code : 0;
}

function readVersion(): string {
  const file: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return String(Reflect.get(Object(file), 'version'));
}
