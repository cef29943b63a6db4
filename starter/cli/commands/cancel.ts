import type { Command } from 'commander';
import { liveCommand } from '../live-command.ts';
import type { LiveOptions } from '../live-command.ts';
import { examples } from '../output.ts';
import { runUpdate, withReason } from '../update-command.ts';

/** `keelson cancel`: stop the running operation at its next safe point and undo what can be undone. */
export function command(): Command {
  return withReason(
    liveCommand('cancel', 'Stop the running operation at its next safe point and undo what can be undone.'),
  )
    .addHelpText(
      'after',
      examples(['keelson cancel valkey-cluster/default/cache --reason "wrong size"', 'stops it']),
    )
    .action((words: string[], options: LiveOptions & { readonly reason: string }) =>
      runUpdate(words, options, 'cancelOperation', { reason: options.reason }),
    );
}
