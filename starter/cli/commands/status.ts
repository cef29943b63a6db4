import { Command } from 'commander';
import { CliError } from '../cli-error.ts';

/** `keelson status` */
export function command(): Command {
  return new Command('status').action(() => {
    throw new CliError('keelson status is not built yet');
  });
}
