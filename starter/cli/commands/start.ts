import type { Command } from 'commander';
import { applyFinalizer } from '../../finalizer.ts';
import { deliverHint } from '../../hint-delivery.ts';
import type { KubernetesApi } from '../../kubernetes-api.ts';
import { isRefusal } from '../../kubernetes-refusal.ts';
import { loadWatches } from '../../load-watches.ts';
import { refuseObject } from '../../object-check.ts';
import { hintOf, sightingOf } from '../../sighting.ts';
import type { Sighting } from '../../sighting.ts';
import { isWorkflowGone } from '../../temporal-errors.ts';
import { resourcePath } from '../../watch-definition.ts';
import type { KubernetesObject, LifecycleWatch } from '../../watch-definition.ts';
import { CliError, badInput } from '../cli-error.ts';
import { withKubernetes } from '../kubernetes-session.ts';
import { liveCommand } from '../live-command.ts';
import type { LiveOptions } from '../live-command.ts';
import { examples, print, printJson } from '../output.ts';
import { findLifecycle, resolveTarget } from '../target.ts';
import type { Target } from '../target.ts';
import { withTemporal } from '../temporal-session.ts';
import type { TemporalSession } from '../temporal-session.ts';

interface StartOptions extends LiveOptions {
  readonly taskQueue?: string;
}

/** `keelson start`: what the trigger service does for a resource that was applied, once and by hand. */
export function command(): Command {
  return liveCommand(
    'start',
    'Start the workflow that looks after a resource, or wake it when it runs. The resource must exist. Where the ' +
      'trigger service runs, "kubectl apply" is enough; where it does not, this is how a change or a deletion is told.',
  )
    .option('--task-queue <name>', 'where the worker listens, when it is not the usual one')
    .addHelpText(
      'after',
      examples(
        ['keelson start valkey-cluster/default/cache', 'after "kubectl apply" or "kubectl delete"'],
        ['keelson start valkeycluster cache -n shop', 'the same by kind and name'],
        ['keelson start valkeycluster cache -o json', 'for a script'],
      ),
    )
    .action(start);
}

async function start(words: string[], options: StartOptions): Promise<void> {
  const watches = await loadWatches();
  const target = await resolveTarget(words, options.namespace, watches);
  const watch = findLifecycle(target.lifecycle, watches);
  const sighting = await withKubernetes((api) => prepareResource(api, watch, target));
  await withTemporal(options.timeout * 1000, async (session) => {
    const started = await deliver(session, target, sighting, options.taskQueue);
    const { workflowId } = target;
    if (options.output === 'json') printJson({ workflowId, ...started, generation: sighting.generation });
    else print(`${workflowId}: ${started.started ? 'started' : 'it ran already, and looks again now'}`);
  });
}

/** Reads the resource, and puts the finalizer on it, without which its deletion could be missed. */
async function prepareResource(api: KubernetesApi, watch: LifecycleWatch, target: Target): Promise<Sighting> {
  const { kind, ref } = target;
  const absent = new CliError(`there is no ${kind} ${ref.namespace}/${ref.name}`, {
    remedy: 'Apply it first ("kubectl apply -f …"), or say the namespace with -n.',
  });
  const object = await readResource(api, watch, target);
  if (object === null) throw absent;
  const owner = (): Target['ref'] => ref;
  const problem = refuseObject(watch, object, owner);
  if (problem !== null)
    throw badInput(`${kind} ${ref.namespace}/${ref.name} cannot be looked after: ${problem}`);
  const sighting = sightingOf(watch.primary, object, { owner });
  if (!(await applyFinalizer(api, watch.primary, sighting))) throw absent;
  return sighting;
}

async function readResource(
  api: KubernetesApi,
  watch: LifecycleWatch,
  { ref }: Target,
): Promise<KubernetesObject | null> {
  try {
    // An answer of the API server to a read of one object is that object.
    return (await api.request(resourcePath(watch.primary, ref))) as KubernetesObject;
  } catch (error) {
    if (isRefusal(error, 404)) return null;
    throw error;
  }
}

/** Starts or wakes; which of them it was is told by the run that got the hint. */
async function deliver(
  { client, deadlineMs }: TemporalSession,
  target: Target,
  sighting: Sighting,
  taskQueue: string | undefined,
): Promise<{ readonly runId: string; readonly started: boolean }> {
  const before = await client.withDeadline(Date.now() + deadlineMs, async () => {
    try {
      return (await client.workflow.getHandle(target.workflowId).describe()).runId;
    } catch (error) {
      if (isWorkflowGone(error)) return null;
      throw error;
    }
  });
  const runId = await deliverHint(client, target, hintOf(sighting), {
    deadlineMs,
    ...(taskQueue === undefined ? {} : { taskQueue }),
  });
  return { runId, started: runId !== before };
}
