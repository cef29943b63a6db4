import { Command } from 'commander';
import { EntityClient } from './entity-client.ts';
import { outputOption, wholeNumber } from './output.ts';
import type { OutputFormat } from './output.ts';
import { resolveTarget } from './target.ts';
import type { Target } from './target.ts';
import { withTemporal } from './temporal-session.ts';
import type { TemporalSession } from './temporal-session.ts';
import { loadLifecycles } from './lifecycles.ts';

/** The options that every command about one entity has. */
export interface LiveOptions {
  readonly output: OutputFormat;
  readonly namespace?: string;
  readonly timeout: number;
}

/** A command about one entity: `keelson <verb> <lifecycle>/<namespace>/<name>` or `keelson <verb> <kind> <name> -n …`. */
export function liveCommand(name: string, description: string): Command {
  return withTimeout(new Command(name))
    .description(description)
    .argument('<resource...>', 'lifecycle/namespace/name, or kind and name')
    .option(
      '-n, --namespace <namespace>',
      'the namespace, when it is not in the name; else that of your kubeconfig',
    )
    .addOption(outputOption());
}

/** Adds the deadline that every call to the engine has. */
export function withTimeout(command: Command): Command {
  return command.option('--timeout <seconds>', 'how long each call may take', wholeNumber(1, 600), 5);
}

/** Opens the entity that a command names, for as long as the work lasts. */
export async function withEntity<T>(
  words: readonly string[],
  options: LiveOptions,
  work: (entity: EntityClient, session: TemporalSession) => Promise<T>,
): Promise<T> {
  const target: Target = await resolveTarget(words, options.namespace, await loadLifecycles());
  return withTemporal(options.timeout * 1000, (session) => work(new EntityClient(session, target), session));
}
