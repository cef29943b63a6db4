import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defaultHomeDirectory } from '../../deploy/local/home.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const SAID_TEMPORAL = ['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'] as const;

/**
 * The environment with the addresses of the embedded stack in `$KEELSON_HOME`, when one is up and the user has not said
 * otherwise; the user's own configuration always wins.
 */
export async function withLocalStack(environment: Environment): Promise<Environment> {
  if (!existsSync(join(defaultHomeDirectory(), 'state.json'))) return environment;
  const { openHome, pathOf } = await import('../../deploy/local/home.ts');
  const { readState } = await import('../../deploy/local/state.ts');
  const { isAlive } = await import('../../deploy/local/process-table.ts');
  const home = openHome();
  const state = readState(home);
  if (state === undefined || !isAlive(state.supervisor)) return environment;
  const { contextOf, findPart, readSettings } = await import('../../deploy/local/settings.ts');
  const context = contextOf(home, readSettings(home)?.portOffset ?? 0, findPart('temporal'));
  const said = SAID_TEMPORAL.some((name) => environment[name] !== undefined);
  return {
    ...(said
      ? {}
      : { TEMPORAL_ADDRESS: `127.0.0.1:${context.port('frontend')}`, TEMPORAL_NAMESPACE: 'default' }),
    ...(environment['KUBECONFIG'] === undefined ? { KUBECONFIG: pathOf.kubeconfig(home, 'admin') } : {}),
    ...environment,
  };
}
