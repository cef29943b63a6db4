import { Command } from 'commander';
import { loadWatches } from '../../load-watches.ts';
import { fieldOf, textOf } from '../../object-field.ts';
import type { LifecycleWatch } from '../../watch-definition.ts';
import { badInput } from '../cli-error.ts';
import { readCurrentNamespace } from '../current-namespace.ts';
import { readDocument, readDocuments } from '../input-file.ts';
import { loadLifecycles } from '../lifecycles.ts';
import type { AskedPlan } from '../live-plan.ts';
import { loadAnswerer, loadPlanner } from '../offline-plan.ts';
import { examples, outputOption, print, printJson, wholeNumber } from '../output.ts';
import type { OutputFormat } from '../output.ts';
import { renderPlan } from '../render/plan-text.ts';
import type { RenderablePlan } from '../render/plan-text.ts';
import { findLifecycle, resolveTarget, targetOf } from '../target.ts';
import type { Target } from '../target.ts';
import { findWishPlan } from '../wish-plan.ts';
import type { WishPlan } from '../wish-plan.ts';

interface PlanOptions {
  readonly file?: string;
  readonly observed?: string;
  readonly intent?: string;
  readonly lifecycle?: string;
  readonly namespace?: string;
  readonly output: OutputFormat;
  readonly timeout: number;
  readonly taskQueue?: string;
}

/** `keelson plan`: what would be done, and why; from files alone, or from the live cluster without a single write. */
export function command(): Command {
  return new Command('plan')
    .description(
      'Show what would be done, in which order and why, and what blocks it. With --observed it reads files and contacts ' +
        'nothing; without, the worker reads the cluster in a dry run. Nothing is ever written.',
    )
    .argument('[resource...]', 'lifecycle/namespace/name, or kind and name: the plan for its present spec')
    .option('-f, --file <file>', 'a manifest: the plan for the spec in it (- for standard input)')
    .option('--observed <file>', 'what was observed, as JSON or YAML')
    .option('--intent <file>', 'explicit intents, for the lifecycles that have them')
    .option('-l, --lifecycle <lifecycle>', 'the lifecycle, when no manifest tells it')
    .option(
      '-n, --namespace <namespace>',
      'the namespace, when the manifest does not tell it; else that of your kubeconfig',
    )
    .option('--timeout <seconds>', 'how long a plan from the live cluster may take', wholeNumber(1, 3600), 60)
    .option('--task-queue <name>', 'where the worker listens, when it is not the usual one')
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples(
        ['keelson plan -f cluster.yaml', 'what applying it would do to the live cluster'],
        ['keelson plan -f cluster.yaml --observed observed.json', 'the same from files alone'],
        ['keelson plan -f upgrade.yaml', 'what an upgrade would do to its cluster'],
        ['keelson plan valkey-cluster/default/cache -o json', 'what is still to be done'],
        ['keelson plan --lifecycle datamesh --observed mesh.json --intent add.json', 'explicit intents'],
      ),
    )
    .action(async (words: string[], options: PlanOptions) => {
      if (options.observed === undefined) show(await planLive(words, options), options);
      else await answerOffline(options, options.observed);
    });
}

function show(plan: RenderablePlan, options: PlanOptions): void {
  if (options.output === 'json') printJson(plan);
  else print(renderPlan(plan));
}

async function answerOffline(options: PlanOptions, observed: string): Promise<void> {
  const { intent, output } = options;
  const lifecycle = await lifecycleOf(options);
  const answer = await loadAnswerer(lifecycle);
  if (answer === null) show(await planOffline(lifecycle, options, observed), options);
  else process.exitCode = await answer({ observed, output, ...(intent === undefined ? {} : { intent }) });
}

async function planOffline(
  lifecycle: string,
  options: PlanOptions,
  observed: string,
): Promise<RenderablePlan> {
  const planner = await loadPlanner(lifecycle);
  return planner({
    resource: options.file === undefined ? undefined : (await readManifest(options.file)).resource,
    observed: await readDocument(observed),
    intent: options.intent === undefined ? undefined : await readDocument(options.intent),
  });
}

async function lifecycleOf(options: PlanOptions): Promise<string> {
  if (options.lifecycle !== undefined) return options.lifecycle;
  if (options.file !== undefined) {
    const { watch, wish } = await readManifest(options.file);
    return wish === null ? watch.lifecycle : wish.lifecycle;
  }
  throw badInput('it is not said what is to be planned', 'Give a manifest with -f, or --lifecycle.');
}

async function planLive(words: readonly string[], options: PlanOptions): Promise<RenderablePlan> {
  if (options.intent !== undefined)
    throw badInput('--intent needs --observed', 'A live cluster is planned by its resources.');
  const { target, asked } = await targetOfLive(words, options);
  const live = await import('../live-plan.ts');
  return live.planLive(target, asked, {
    deadlineMs: options.timeout * 1000,
    ...(options.taskQueue === undefined ? {} : { taskQueue: options.taskQueue }),
  });
}

async function targetOfLive(
  words: readonly string[],
  options: PlanOptions,
): Promise<{ readonly target: Target; readonly asked: AskedPlan }> {
  if (options.file === undefined) {
    if (words.length === 0)
      throw badInput('it is not said what is to be planned', 'Give a manifest with -f, or a resource.');
    const target = await resolveTarget(words, options.namespace, await loadLifecycles());
    return { target, asked: {} };
  }
  if (words.length > 0) throw badInput('a manifest and a resource are given', 'Give one of them.');
  const { resource, watch, wish } = await readManifest(options.file);
  const metadata = fieldOf(resource, 'metadata');
  const name = textOf(metadata, 'name');
  if (name === null) throw badInput(`${options.file} has no metadata.name`);
  const namespace = textOf(metadata, 'namespace') ?? options.namespace ?? (await readCurrentNamespace());
  const spec = fieldOf(resource, 'spec');
  if (wish === null)
    return { target: targetOf(watch, { namespace, name }), asked: spec === undefined ? {} : { spec } };
  const { of, asked } = (await wish.load())(resource);
  const target = targetOf(watch, { namespace, name: of });
  return { target: { ...target, workflowType: wish.workflowType }, asked };
}

/** What a manifest is about: the resource of a lifecycle, or a wish for one, such as an upgrade. */
interface Manifest {
  readonly resource: unknown;
  readonly watch: LifecycleWatch;
  readonly wish: WishPlan | null;
}

/** The first resource in a manifest that some lifecycle is about. */
async function readManifest(path: string): Promise<Manifest> {
  const documents = await readDocuments(path);
  const watches = await loadWatches();
  for (const resource of documents) {
    const kind = textOf(resource, 'kind');
    for (const watch of watches) {
      if (watch.primary.kind === kind) return { resource, watch, wish: null };
      const watched = watch.secondaries.some((one) => one.is === 'wish' && one.kind === kind);
      const wish = watched ? findWishPlan(kind ?? '') : null;
      if (wish !== null) return { resource, watch, wish };
    }
  }
  const [first] = documents;
  const kind = textOf(first, 'kind');
  if (kind === null) throw badInput(`${path} is no manifest: it has no kind`);
  // Refuses with the list of kinds that there are.
  return { resource: first, watch: findLifecycle(kind, watches), wish: null };
}
