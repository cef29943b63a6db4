import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { SCENES } from '../../../deploy/local/demo/index.ts';
import { defaultHomeDirectory } from '../../../deploy/local/home.ts';
import { createProgress } from '../../../deploy/local/progress.ts';
import { readStatus } from '../../../deploy/local/status.ts';
import { purgeHome, stopStack } from '../../../deploy/local/stop.ts';
import { startOnFreePorts } from '../../../deploy/local/free-ports.ts';
import type { StartedStack } from '../../../deploy/local/start.ts';
import { CliError } from '../cli-error.ts';
import { playScene } from '../demo-scene.ts';
import type { ActResult } from '../demo-scene.ts';
import { interruptible } from '../interruption.ts';
import { examples, print, say, table, wholeNumber } from '../output.ts';
import { renderDuration } from '../render/times.ts';

interface DemoOptions {
  readonly keep?: boolean;
  readonly yes?: boolean;
  readonly portOffset?: number;
}

/** `keelson demo`: every lifecycle, on real parts, from nothing. */
export function command(): Command {
  return new Command('demo')
    .description(
      'Fetch or build every part, start the stack with worker and starter, apply a sample resource for each lifecycle, ' +
        'and show each operation while it runs.',
    )
    .option('--keep', 'leave everything running at the end')
    .option('--yes', 'ask nothing')
    .option(
      '--port-offset <n>',
      'add this to every port (otherwise free ones are found)',
      wholeNumber(0, 40_000),
    )
    .addHelpText(
      'after',
      examples(['npm run demo', 'from nothing to a summary'], ['npm run demo -- --keep', 'and play with it']),
    )
    .action((options: DemoOptions) => interruptible((signal) => demo(options, signal)));
}

async function demo(options: DemoOptions, signal: AbortSignal): Promise<void> {
  const asks = options.yes !== true && process.stdin.isTTY && process.stderr.isTTY;
  const isNew = !existsSync(defaultHomeDirectory());
  if (asks)
    await ask(
      'This fetches what is missing (about 500 MB, once) and starts it here. Enter to go on, Ctrl-C not to.',
      signal,
    );
  const progress = createProgress();
  say('Starting the stack: the first time, building Kubernetes takes minutes.');
  const stack = await startOnFreePorts({
    progress,
    signal,
    withParts: SCENES.flatMap(({ parts }) => parts),
    ...(options.portOffset === undefined ? {} : { portOffset: options.portOffset }),
  }).finally(() => progress.close());
  let results: readonly ActResult[] = [];
  try {
    showStack(stack);
    results = await playAll(stack, options.keep === true, signal);
    showSummary(results);
    if (options.keep === true) showKept(stack);
    else if (asks) await ask('Enter to stop everything.', signal);
  } finally {
    if (options.keep !== true && stack.startedNow) await stop(stack, isNew);
  }
  const failed = results.filter(({ failure }) => failure !== null);
  if (failed.length > 0)
    throw new CliError(`${failed.length} of ${results.length} operations did not end well`);
}

async function playAll(
  stack: StartedStack,
  keep: boolean,
  signal: AbortSignal,
): Promise<readonly ActResult[]> {
  if (!readStatus(stack.home).parts.some(({ name }) => name === 'worker')) return [];
  const results: ActResult[] = [];
  for (const scene of SCENES) results.push(...(await playScene(stack.home, scene, keep, signal)));
  return results;
}

function showStack({ home }: StartedStack): void {
  const { parts, memoryBytes } = readStatus(home);
  const rows = parts.map((part) => [
    part.name,
    part.version,
    part.phase,
    Object.values(part.addresses)[0] ?? '',
    part.summary,
  ]);
  print(`\n${table([['PART', 'VERSION', 'STATE', 'ADDRESS', 'WHAT IT IS'], ...rows])}`);
  print(`${Math.round(memoryBytes / 1e6)} MB of memory in all\n`);
  const ui = parts.find(({ name }) => name === 'temporal')?.addresses['ui'];
  const kubeconfig = parts.find(({ name }) => name === 'kube-apiserver')?.addresses['kubeconfig'];
  print(`Temporal Web UI  ${ui}\nKubernetes       kubectl --kubeconfig ${kubeconfig} get pods -A\n`);
}

function showSummary(results: readonly ActResult[]): void {
  if (results.length === 0) return;
  const rows = results.map(({ resource, title, failure, tookMs }) => [
    failure === null ? '✓' : '✗',
    resource,
    title,
    renderDuration(tookMs),
    failure ?? 'done',
  ]);
  print(`\n${table([['', 'RESOURCE', 'WHAT', 'TIME', 'RESULT'], ...rows])}`);
}

function showKept({ home }: StartedStack): void {
  const prefix = process.env['KEELSON_HOME'] === undefined ? '' : `KEELSON_HOME=${home.directory} `;
  say(
    `It stays up. Look at it with "${prefix}npx keelson status", stop it with "${prefix}npx keelson down --purge".`,
  );
}

async function stop({ home }: StartedStack, purge: boolean): Promise<void> {
  const progress = createProgress();
  await stopStack(home, progress).finally(() => progress.close());
  if (purge) purgeHome(home);
}

async function ask(question: string, signal: AbortSignal): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  await lines.question(`${question} `, { signal }).finally(() => lines.close());
}
