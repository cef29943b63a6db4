import { Command } from 'commander';
import { CliError } from '../cli-error.ts';

/** `keelson logs` */
export function command(): Command {
  return new Command('logs').action(() => {
    throw new CliError('keelson logs is not built yet');
  });
}
