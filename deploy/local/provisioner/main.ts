// Gives each claim of the stack's storage classes a directory on this machine.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { KubernetesApi } from '../kubernetes/api.ts';
import { Reflector } from '../kubernetes/reflector.ts';
import { messageOf } from '../stack-error.ts';
import { Provisioner } from './provisioner.ts';

const RETRY_MS = 1_000;
/** A class or a node that comes late is noticed by nobody else, so that it is looked now and then in any case. */
const RESYNC_MS = 240_000;

interface Configuration {
  readonly kubeconfig: string;
  readonly volumesDirectory: string;
}

const configuration = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Configuration;
const api = new KubernetesApi(configuration.kubeconfig);
const provisioner = new Provisioner(api, configuration.volumesDirectory, note);
const stopping = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stopping.abort());

let wanted = true;
let wake = (): void => {};

/** Looks again after each change, whatever it was: one look sees everything. */
async function reconcileForEver(): Promise<void> {
  while (!stopping.signal.aborted) {
    if (!wanted) await new Promise<void>((resolve) => (wake = resolve));
    if (stopping.signal.aborted) return;
    wanted = false;
    try {
      await provisioner.reconcile();
    } catch (error) {
      note(messageOf(error));
      wanted = true;
      await delay(RETRY_MS);
    }
  }
}

async function watchForEver(path: string): Promise<void> {
  const handler = { changed: look, removed: look, listed: look };
  const reflector = new Reflector(api, path, '', handler);
  await reflector.run(stopping.signal, (error) => note(`${path}: ${messageOf(error)}`));
}

function look(): void {
  wanted = true;
  wake();
}

function note(text: string): void {
  console.log(`${new Date().toISOString()} ${text}`);
}

const resync = setInterval(look, RESYNC_MS);
stopping.signal.addEventListener('abort', look);
note('started');
await Promise.all([
  reconcileForEver(),
  watchForEver('/api/v1/persistentvolumeclaims'),
  watchForEver('/api/v1/persistentvolumes'),
]);
clearInterval(resync);
api.close();
