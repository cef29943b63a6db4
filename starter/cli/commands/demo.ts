import { Command } from 'commander';
import { CliError } from '../cli-error.ts';

/** `keelson demo` */
export function command(): Command {
  return new Command('demo').action(() => {
    throw new CliError('keelson demo is not built yet');
  });
}
