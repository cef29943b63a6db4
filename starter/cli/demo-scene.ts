import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Act, Scene, Stage } from '../../deploy/local/demo/scene.ts';
import { pathOf } from '../../deploy/local/home.ts';
import type { Home } from '../../deploy/local/home.ts';
import { KubernetesApi } from '../../deploy/local/kubernetes/api.ts';
import { contextOf, findPart, readSettings } from '../../deploy/local/settings.ts';
import { command as watchCommand } from './commands/watch.ts';
import { say } from './output.ts';

/** How one act of a scene ended. */
export interface ActResult {
  readonly resource: string;
  readonly title: string;
  readonly tookMs: number;
  /** What was wrong, in words; null when all went well. */
  readonly failure: string | null;
}

/** How long an operation may take to begin after its cause, and each call to the engine. */
const BEGIN_SECONDS = 60;
const CALL_SECONDS = 20;
const TOLD_SECONDS = 20;
const LOOK_MS = 200;

/** Plays the acts of a scene in a namespace of their own; after one that fails the rest are left out. */
export async function playScene(
  home: Home,
  scene: Scene,
  keep: boolean,
  signal: AbortSignal,
): Promise<readonly ActResult[]> {
  const api = new KubernetesApi(pathOf.kubeconfig(home, 'admin'));
  const settings = readSettings(home);
  const address = (part: string, name: string): string => {
    const found = findPart(part);
    return found.addresses(contextOf(home, settings?.portOffset ?? 0, found))[name] ?? '';
  };
  const namespace = `demo-${randomBytes(2).toString('hex')}`;
  const results: ActResult[] = [];
  try {
    await api.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    const addSpotClient: Stage['addSpotClient'] = (name) =>
      addClientAt(`${address('mariadb', 'sql')}/keelson`, name);
    const stage: Stage = { api, namespace, address, addSpotClient };
    for (const act of scene.acts.filter(({ isFarewell }) => isFarewell !== true || !keep)) {
      signal.throwIfAborted();
      const result = await playAct(stage, scene, act);
      results.push(result);
      if (result.failure !== null) break;
    }
  } finally {
    api.close();
  }
  return results;
}

async function playAct(stage: Stage, scene: Scene, act: Act): Promise<ActResult> {
  let resource = '';
  const begin = Date.now();
  const end = (failure: string | null): ActResult => ({
    resource,
    title: act.title,
    tookMs: Date.now() - begin,
    failure,
  });
  say(`\n▶ ${act.title}`);
  try {
    await act.begin(stage);
    resource = scene.target(stage);
    await watchCommand().parseAsync(
      [resource, '--wait', String(BEGIN_SECONDS), '--timeout', String(CALL_SECONDS)],
      { from: 'user' },
    );
    const led = await checkPatiently(stage, act);
    if (led !== undefined) say(led);
    return end(null);
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    say(`✗ ${failure}`);
    return end(failure);
  }
}

/** What an operation has done stands on its resource a moment after its end: the last word of a check counts. */
async function checkPatiently(stage: Stage, act: Act): ReturnType<Act['check']> {
  const byMs = Date.now() + TOLD_SECONDS * 1_000;
  for (;;) {
    try {
      return await act.check(stage);
    } catch (error) {
      if (Date.now() > byMs) throw error;
      await sleep(LOOK_MS);
    }
  }
}

async function addClientAt(
  databaseUrl: string,
  name: string,
): Promise<{ readonly id: string; readonly token: string }> {
  const { migrateDatabase } = await import('../database/migrations.ts');
  await migrateDatabase(databaseUrl);
  const { openDatabase } = await import('../database/connection.ts');
  const { addClient } = await import('../http/spot/clients.ts');
  const pool = openDatabase(databaseUrl);
  try {
    return await addClient(pool, name);
  } finally {
    await pool.end();
  }
}
