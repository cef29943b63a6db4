import type { Command } from 'commander';
import { liveCommand } from '../live-command.ts';
import type { LiveOptions } from '../live-command.ts';
import { examples } from '../output.ts';
import { runUpdate } from '../update-command.ts';

/** `keelson retry`: try again now what has failed or was cancelled, without waiting for the back-off. */
export function command(): Command {
  return liveCommand(
    'retry',
    'Try again now what has failed or was cancelled, without waiting for the back-off.',
  )
    .addHelpText('after', examples(['keelson retry valkey-cluster/default/cache', 'tries again']))
    .action((words: string[], options: LiveOptions) => runUpdate(words, options, 'retry'));
}
