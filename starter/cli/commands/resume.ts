import type { Command } from 'commander';
import { liveCommand } from '../live-command.ts';
import type { LiveOptions } from '../live-command.ts';
import { examples } from '../output.ts';
import { runUpdate } from '../update-command.ts';

/** `keelson resume`: go on after "keelson pause". */
export function command(): Command {
  return liveCommand('resume', 'Go on after "keelson pause".')
    .addHelpText('after', examples(['keelson resume valkey-cluster/default/cache', 'goes on']))
    .action((words: string[], options: LiveOptions) => runUpdate(words, options, 'resume'));
}
