import { existsSync, watch } from 'node:fs';
import { Command } from 'commander';
import { defaultHomeDirectory, openHome, pathOf } from '../../../deploy/local/home.ts';
import type { Home } from '../../../deploy/local/home.ts';
import { readFrom, readLastLines, sizeOf } from '../../../deploy/local/log-file.ts';
import { findPart, readSettings } from '../../../deploy/local/settings.ts';
import { CliError } from '../cli-error.ts';
import { interruptible } from '../interruption.ts';
import { examples, print, wholeNumber } from '../output.ts';

interface LogOptions {
  readonly follow?: boolean;
  readonly lines: number;
}

/** `keelson logs`: what the parts have written. */
export function command(): Command {
  return new Command('logs')
    .description('Show the last lines that a part has written, or those of all parts with their names.')
    .argument('[part]', 'the part; "supervisor" for who looks after them')
    .option('-f, --follow', 'go on until Ctrl-C')
    .option('-n, --lines <n>', 'how many lines', wholeNumber(0, 100_000), 20)
    .addHelpText(
      'after',
      examples(
        ['keelson logs', 'all parts'],
        ['keelson logs worker -f', 'follow one'],
        ['keelson logs supervisor', 'restarts'],
      ),
    )
    .action((part: string | undefined, options: LogOptions) =>
      interruptible((signal) => logs(part, options, signal)),
    );
}

async function logs(part: string | undefined, options: LogOptions, signal: AbortSignal): Promise<void> {
  if (!existsSync(defaultHomeDirectory())) {
    throw new CliError(`there is no stack in ${defaultHomeDirectory()}`, {
      remedy: 'Run "keelson up", or set KEELSON_HOME.',
    });
  }
  const home = openHome();
  const names = part === undefined ? ['supervisor', ...(readSettings(home)?.parts ?? [])] : [checkName(part)];
  const prefix = (name: string): string => (part === undefined ? `${name}: ` : '');
  const offsets = new Map(names.map((name) => [name, sizeOf(pathOf.log(home, name))]));
  for (const name of names) {
    const lines = readLastLines(pathOf.log(home, name), options.lines);
    if (lines.length > 0) print(lines.map((line) => prefix(name) + line).join('\n'));
  }
  if (options.follow === true) await follow(home, offsets, prefix, signal);
}

async function follow(
  home: Home,
  offsets: Map<string, number>,
  prefix: (name: string) => string,
  signal: AbortSignal,
): Promise<void> {
  const rests = new Map<string, string>();
  const look = (): void => {
    for (const [name, offset] of offsets) {
      const { text, next } = readFrom(pathOf.log(home, name), offset);
      if (text === '') continue;
      offsets.set(name, next);
      const lines = ((rests.get(name) ?? '') + text).split('\n');
      rests.set(name, lines.pop() ?? '');
      if (lines.length > 0) print(lines.map((line) => prefix(name) + line).join('\n'));
    }
  };
  const watcher = watch(`${home.directory}/logs`, look);
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  watcher.close();
}

function checkName(part: string): string {
  return part === 'supervisor' ? part : findPart(part).name;
}
