import type { Command } from 'commander';
import { badInput } from '../cli-error.ts';
import { liveCommand, withEntity } from '../live-command.ts';
import type { LiveOptions } from '../live-command.ts';
import { examples, say } from '../output.ts';
import { renderPlan } from '../render/plan-text.ts';
import { currentUser, runUpdate } from '../update-command.ts';

interface ApproveOptions extends LiveOptions {
  readonly hash?: string;
  readonly by: string;
  readonly reason: string;
}

/** `keelson approve`: lets a plan with steps that cannot be undone run. */
export function command(): Command {
  return liveCommand(
    'approve',
    'Approve the plan with this hash. Without --hash it shows the plan that would be approved.',
  )
    .option('--hash <hash>', 'the hash of the plan that you have read')
    .option('--by <person>', 'who approves', currentUser())
    .option('-r, --reason <text>', 'why, for everybody who asks later', '')
    .addHelpText(
      'after',
      examples(
        ['keelson approve valkey-cluster/default/cache', 'read the plan first'],
        ['keelson approve valkey-cluster/default/cache --hash sha256:…', 'approve exactly that plan'],
      ),
    )
    .action(async (words: string[], options: ApproveOptions) => {
      if (options.hash === undefined) await showPlan(words, options);
      else {
        const { hash, by, reason } = options;
        await runUpdate(words, options, 'approve', { hash, by, reason });
      }
    });
}

async function showPlan(words: readonly string[], options: ApproveOptions): Promise<never> {
  return withEntity(words, options, async (entity) => {
    const plan = await entity.plan();
    if (plan === null) throw badInput(`${entity.target.workflowId} has no plan to approve`);
    say(renderPlan(plan));
    throw badInput(
      'nothing was approved, because --hash is missing',
      `When you agree with it: keelson approve ${entity.target.workflowId} --hash ${plan.hash}`,
    );
  });
}
