import type { Command } from 'commander';
import { liveCommand } from '../live-command.ts';
import type { LiveOptions } from '../live-command.ts';
import { examples, wholeNumber } from '../output.ts';
import { runUpdate, withReason } from '../update-command.ts';

/** `keelson skip-shard`: leave a shard out of the upgrade that runs, as long as it is not worked on. */
export function command(): Command {
  return withReason(
    liveCommand(
      'skip-shard',
      'Leave a shard out of the running upgrade. One that is worked on already is brought to its end.',
    ).requiredOption(
      '-s, --shard <number>',
      'the shard, as status.shardStatuses numbers it',
      wholeNumber(0, 99),
    ),
  )
    .addHelpText(
      'after',
      examples(
        [
          'keelson skip-shard valkey-cluster/default/cache --shard 2 --reason "its owner asks"',
          'shard 2 stays on its version',
        ],
        ['kubectl get vug -o wide', 'shows how far each upgrade is'],
      ),
    )
    .action((words: string[], options: LiveOptions & { readonly shard: number; readonly reason: string }) => {
      const { shard, reason } = options;
      return runUpdate(words, options, 'skipShard', { shard, reason });
    });
}
