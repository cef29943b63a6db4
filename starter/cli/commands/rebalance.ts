import type { Command } from 'commander';
import { API_GROUP, REBALANCE_ANNOTATION } from '../../../workflows/valkey-cluster/domain/names.ts';
import { isRefusal } from '../../kubernetes-refusal.ts';
import { loadWatches } from '../../load-watches.ts';
import { badInput, CliError } from '../cli-error.ts';
import { withKubernetes } from '../kubernetes-session.ts';
import { liveCommand } from '../live-command.ts';
import type { LiveOptions } from '../live-command.ts';
import { examples, print, printJson } from '../output.ts';
import { resolveTarget } from '../target.ts';
import type { Target } from '../target.ts';

/** `keelson rebalance`: ask once for even shares of the slots, which drift alone never gives. */
export function command(): Command {
  return liveCommand('rebalance', 'Level the slots of a Valkey cluster over its masters, once.')
    .addHelpText(
      'after',
      examples(
        ['keelson rebalance valkey-cluster/default/cache', 'moves the fewest slots that even shares need'],
        [`kubectl annotate vc cache ${REBALANCE_ANNOTATION}="$(date)" --overwrite`, 'the same'],
      ),
    )
    .action(rebalance);
}

async function rebalance(words: string[], options: LiveOptions): Promise<void> {
  const target = await resolveTarget(words, options.namespace, await loadWatches());
  if (target.lifecycle !== 'valkey-cluster')
    throw badInput(`${target.kind} has no slots`, 'Name a ValkeyCluster: valkey-cluster/default/cache.');
  await annotate(target, new Date().toISOString(), options.timeout * 1000);
  const message = 'its slots are levelled now; "keelson watch" shows it';
  if (options.output === 'json') printJson({ workflowId: target.workflowId, message });
  else print(`${target.workflowId}: ${message}`);
}

/** The wish stands on the resource, where `kubectl` sees it and the trigger service hears of it. */
async function annotate({ kind, ref }: Target, value: string, timeoutMs: number): Promise<void> {
  const path = `/apis/${API_GROUP}/v1alpha1/namespaces/${ref.namespace}/valkeyclusters/${ref.name}`;
  await withKubernetes(async (api) => {
    try {
      await api.request(path, {
        method: 'PATCH',
        contentType: 'application/merge-patch+json',
        body: { metadata: { annotations: { [REBALANCE_ANNOTATION]: value } } },
        timeoutMs,
      });
    } catch (error) {
      if (isRefusal(error, 404)) throw new CliError(`there is no ${kind} ${ref.namespace}/${ref.name}`);
      throw error;
    }
  });
}
