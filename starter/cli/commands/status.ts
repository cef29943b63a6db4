import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { defaultHomeDirectory, openHome } from '../../../deploy/local/home.ts';
import { readStatus } from '../../../deploy/local/status.ts';
import type { PartStatus, StackStatus } from '../../../deploy/local/status.ts';
import { CliError } from '../cli-error.ts';
import { examples, outputOption, print, printJson, say, table } from '../output.ts';
import type { OutputFormat } from '../output.ts';

/** `keelson status`: what runs, where, and how much it takes. */
export function command(): Command {
  return new Command('status')
    .description(
      'Show version, address, process, uptime and memory of each part. The exit code is 0 when all are healthy.',
    )
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples(['keelson status', 'a table'], ['keelson status -o json', 'the same for a script']),
    )
    .action((options: { output: OutputFormat }) => {
      if (!existsSync(defaultHomeDirectory())) {
        throw new CliError(`there is no stack in ${defaultHomeDirectory()}`, {
          remedy: 'Run "keelson up", or set KEELSON_HOME.',
        });
      }
      const status = readStatus(openHome());
      if (options.output === 'json') printJson(status);
      else show(status);
      if (!status.healthy) process.exitCode = 1;
    });
}

function show(status: StackStatus): void {
  print(
    table([
      ['PART', 'VERSION', 'STATE', 'PID', 'UP', 'MEMORY', 'RESTARTS', 'ADDRESS'],
      ...status.parts.map(rowOf),
    ]),
  );
  for (const { name, phase, reason } of status.parts)
    if (phase !== 'ready' && reason !== null) say(`${name}: ${reason}`);
  const supervisor = status.supervisor === null ? 'no supervisor' : `supervisor ${status.supervisor.pid}`;
  say(`${status.home}, ${supervisor}, ${megabytes(status.memoryBytes)} in all`);
  if (status.running && status.supervisor === null)
    say('Nobody looks after these processes: run "keelson up" or "keelson down".');
}

function rowOf(part: PartStatus): readonly string[] {
  return [
    part.name,
    part.version,
    part.phase,
    part.pid === null ? '-' : String(part.pid),
    part.uptimeSeconds === null ? '-' : uptime(part.uptimeSeconds),
    part.memoryBytes === null ? '-' : megabytes(part.memoryBytes),
    String(part.restarts),
    Object.values(part.addresses).join(' '),
  ];
}

function uptime(seconds: number): string {
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
