import { Command } from 'commander';
import { CliError } from '../cli-error.ts';

/** `keelson up` */
export function command(): Command {
  return new Command('up').action(() => {
    throw new CliError('keelson up is not built yet');
  });
}
