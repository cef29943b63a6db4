import type { Command } from 'commander';
import { liveCommand } from '../live-command.ts';
import type { LiveOptions } from '../live-command.ts';
import { examples } from '../output.ts';
import { runUpdate, withReason } from '../update-command.ts';

/** `keelson pause`: hold the running operation at its next safe point and begin nothing new, until "keelson resume". */
export function command(): Command {
  return withReason(
    liveCommand(
      'pause',
      'Hold the running operation at its next safe point and begin nothing new, until "keelson resume".',
    ),
  )
    .addHelpText(
      'after',
      examples([
        'keelson pause valkey-cluster/default/cache --reason "the network is being moved"',
        'holds it',
      ]),
    )
    .action((words: string[], options: LiveOptions & { readonly reason: string }) =>
      runUpdate(words, options, 'pause', { reason: options.reason }),
    );
}
