import { Command } from 'commander';
import { CliError } from '../cli-error.ts';

/** `keelson doctor` */
export function command(): Command {
  return new Command('doctor').action(() => {
    throw new CliError('keelson doctor is not built yet');
  });
}
