import { Argument, Command } from 'commander';
import { COMMANDS } from '../command-table.ts';
import { readEntities } from '../entity-list.ts';
import { examples, print } from '../output.ts';
import { withTemporal } from '../temporal-session.ts';
import { renderCompletion, SHELLS } from '../render/completion-script.ts';
import type { Shell } from '../render/completion-script.ts';

/** Completion must never keep a prompt waiting. */
const DEADLINE_MS = 1_000;

/** `keelson completion`: the script that teaches a shell the verbs and the resources. */
export function command(): Command {
  return new Command('completion')
    .description('Print the completion script for a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices([...SHELLS, 'resources']))
    .addHelpText(
      'after',
      examples(
        ['source <(keelson completion bash)', 'for this bash'],
        ['keelson completion zsh > "${fpath[1]}/_keelson"', 'for every zsh'],
        ['keelson completion fish > ~/.config/fish/completions/keelson.fish', 'for every fish'],
      ),
    )
    .action(async (shell: Shell | 'resources') => {
      if (shell === 'resources') await printResources();
      else print(renderCompletion(shell, COMMANDS));
    });
}

/** What the scripts ask for: the ids of the entities that run. */
async function printResources(): Promise<void> {
  await withTemporal(DEADLINE_MS, async (session) => {
    const rows = await readEntities(session, { all: false });
    if (rows.length > 0) print(rows.map((row) => row.workflowId).join('\n'));
  });
}
