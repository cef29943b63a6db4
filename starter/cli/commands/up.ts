import { Command } from 'commander';
import { openHome } from '../../../deploy/local/home.ts';
import { createProgress, formatSeconds } from '../../../deploy/local/progress.ts';
import { startStack } from '../../../deploy/local/start.ts';
import type { StartedStack } from '../../../deploy/local/start.ts';
import { readStatus } from '../../../deploy/local/status.ts';
import { stopStack } from '../../../deploy/local/stop.ts';
import { interruptible } from '../interruption.ts';
import { examples, outputOption, print, printJson, say, table, wholeNumber } from '../output.ts';
import type { OutputFormat } from '../output.ts';

interface UpOptions {
  readonly portOffset?: number;
  readonly with?: readonly string[];
  readonly only?: readonly string[];
  readonly foreground?: boolean;
  readonly output: OutputFormat;
}

/** `keelson up`: starts the embedded stack, or what is missing of it. */
export function command(): Command {
  return new Command('up')
    .description(
      'Start the embedded stack from real parts, and wait until all of it is healthy. What runs already is left alone.',
    )
    .option(
      '--port-offset <n>',
      'add this to every port, so that stacks live side by side',
      wholeNumber(0, 50_000),
    )
    .option('--with <part...>', 'start these parts too (mariadb, moto, etcd-pool, prometheus)')
    .option('--only <part...>', 'start these parts and what they need, nothing else')
    .option('--foreground', 'stay until Ctrl-C, then stop everything')
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples(
        ['keelson up', 'everything, in .keelson/ of this directory'],
        ['keelson up --with mariadb moto', 'two more parts'],
        ['KEELSON_HOME=/tmp/b keelson up --port-offset 100', 'a second stack beside the first'],
      ),
    )
    .action((options: UpOptions) => interruptible((signal) => up(options, signal)));
}

async function up(options: UpOptions, signal: AbortSignal): Promise<void> {
  const begin = Date.now();
  const progress = createProgress();
  const started = await startStack({
    progress,
    signal,
    ...(options.portOffset === undefined ? {} : { portOffset: options.portOffset }),
    ...(options.with === undefined ? {} : { withParts: options.with }),
    ...(options.only === undefined ? {} : { onlyParts: options.only }),
  }).finally(() => progress.close());
  showAddresses(started, options.output);
  say(
    `${started.startedNow ? 'The stack is up' : 'The stack was up already'} (${formatSeconds(Date.now() - begin)}).`,
  );
  if (options.foreground === true) await stay(started, signal);
}

function showAddresses({ home }: StartedStack, output: OutputFormat): void {
  const status = readStatus(home);
  if (output === 'json') {
    printJson(status);
    return;
  }
  const rows = status.parts.flatMap(({ name, addresses }) =>
    Object.entries(addresses).map(([what, where]) => [name, what, where]),
  );
  print(table([['PART', 'WHAT', 'WHERE'], ...rows]));
}

async function stay(started: StartedStack, signal: AbortSignal): Promise<void> {
  say('Press Ctrl-C to stop it.');
  const forever = setInterval(() => {}, 60_000);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  clearInterval(forever);
  await stopStack(openHome(started.home.directory), createProgress());
}
