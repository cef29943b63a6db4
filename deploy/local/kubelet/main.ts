import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import type { KubeletConfig } from './config.ts';
import { Kubelet } from './kubelet.ts';

const file = process.argv[2];
if (file === undefined) {
  process.stderr.write('usage: node deploy/local/kubelet/main.ts CONFIG.json\n');
  process.exit(2);
}

function log(message: string, error?: unknown): void {
  const cause = error === undefined ? '' : `: ${error instanceof Error ? error.message : inspect(error)}`;
  process.stdout.write(`${new Date().toISOString()} ${message}${cause}\n`);
}

const kubelet = new Kubelet(JSON.parse(readFileSync(file, 'utf8')) as KubeletConfig, log);
let isStopping = false;

function shutDown(signal: NodeJS.Signals): void {
  if (isStopping) return;
  isStopping = true;
  log(`${signal}: stopping all containers`);
  kubelet.shutDown().then(
    () => process.exit(0),
    (error: unknown) => {
      log('cannot stop all containers', error);
      process.exit(1);
    },
  );
}

process.on('SIGTERM', shutDown);
process.on('SIGINT', shutDown);
await kubelet.run();
