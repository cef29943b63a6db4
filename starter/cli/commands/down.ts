import { Command } from 'commander';
import { CliError } from '../cli-error.ts';

/** `keelson down` */
export function command(): Command {
  return new Command('down').action(() => {
    throw new CliError('keelson down is not built yet');
  });
}
