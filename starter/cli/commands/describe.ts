import type { Command } from 'commander';
import { readEntityView } from '../entity-view.ts';
import { liveCommand, withEntity } from '../live-command.ts';
import type { LiveOptions } from '../live-command.ts';
import { examples, print, printJson } from '../output.ts';
import { renderEntity } from '../render/entity-text.ts';

/** `keelson describe`: all about one resource. */
export function command(): Command {
  return liveCommand(
    'describe',
    'Show phase, conditions, running steps, waits and the last result of one resource.',
  )
    .addHelpText(
      'after',
      examples(
        ['keelson describe valkey-cluster/default/cache', 'by its workflow id'],
        ['keelson describe valkeycluster cache -n default', 'by kind and name'],
      ),
    )
    .action((words: string[], options: LiveOptions) =>
      withEntity(words, options, async (entity) => {
        const view = await readEntityView(entity);
        if (options.output === 'json') printJson(view);
        else print(renderEntity(view, Date.now()));
      }),
    );
}
