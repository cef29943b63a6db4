import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { EntityAbsent } from '../entity-client.ts';
import type { EntityClient } from '../entity-client.ts';
import { readEntityView } from '../entity-view.ts';
import { interruptible } from '../interruption.ts';
import { liveCommand, withEntity } from '../live-command.ts';
import type { LiveOptions } from '../live-command.ts';
import { examples, print, say, wholeNumber } from '../output.ts';
import { renderFrame } from '../render/entity-text.ts';
import type { EntityView } from '../render/entity-text.ts';
import { ScreenFrame } from '../render/screen-frame.ts';
import { renderClock } from '../render/times.ts';
import { isWatchOver, selectNewLines } from '../render/watch-lines.ts';

interface WatchOptions extends LiveOptions {
  readonly follow?: true;
  readonly wait: number;
}

const LOOK_EVERY_MS = 500;

/** `keelson watch`: what happens to one resource, while it happens. */
export function command(): Command {
  return liveCommand(
    'watch',
    'Show the steps of a running operation with ticks, times and waits, until it ends. The exit code tells whether it was done.',
  )
    .option('-f, --follow', 'go on after the operation, until Ctrl-C')
    .option('--wait <seconds>', 'how long to wait for an operation to begin', wholeNumber(0, 86_400), 5)
    .addHelpText(
      'after',
      examples(
        ['keelson watch valkey-cluster/default/cache', 'until its operation ends'],
        ['keelson watch valkeycluster cache --follow', 'for as long as you like'],
        ['keelson watch valkeycluster cache -o json', 'one JSON object for each change'],
      ),
    )
    .action((words: string[], options: WatchOptions) =>
      withEntity(words, options, (entity) => interruptible((signal) => watch(entity, options, signal))),
    );
}

async function watch(entity: EntityClient, options: WatchOptions, signal: AbortSignal): Promise<void> {
  const show = displayFor(options);
  const startedAtMs = Date.now();
  let before: EntityView | null = null;
  let hadOperation = false;
  const isPatient = (): boolean => Date.now() - startedAtMs < options.wait * 1000;
  for (;;) {
    const now = await look(entity, isPatient, signal);
    show(before, now);
    const over = isWatchOver(hadOperation, now);
    const patient = !hadOperation && now.run === 'RUNNING' && isPatient();
    if (over && !patient && options.follow !== true) return conclude(hadOperation, now);
    if (now.run !== 'RUNNING') return conclude(hadOperation, now);
    hadOperation ||= now.status.operation !== null;
    before = now;
    await pause(signal);
  }
}

/** Right after "kubectl apply" there may be no workflow yet: it is given the time that an operation has to begin. */
async function look(
  entity: EntityClient,
  isPatient: () => boolean,
  signal: AbortSignal,
): Promise<EntityView> {
  for (;;) {
    try {
      return await readEntityView(entity);
    } catch (error) {
      if (!(error instanceof EntityAbsent) || !isPatient()) throw error;
    }
    await pause(signal);
  }
}

const pause = async (signal: AbortSignal): Promise<void> => {
  await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
};

type Display = (before: EntityView | null, now: EntityView) => void;

function displayFor(options: WatchOptions): Display {
  if (options.output === 'json') {
    return (before, now) => {
      if (JSON.stringify(before) !== JSON.stringify(now)) print(JSON.stringify(now));
    };
  }
  if (process.stdout.isTTY) {
    const frame = new ScreenFrame(process.stdout);
    return (_, now) => frame.draw(renderFrame(now, Date.now()));
  }
  return (before, now) => {
    for (const line of selectNewLines(before, now, Date.now())) print(`${renderClock(Date.now())}  ${line}`);
  };
}

function conclude(hadOperation: boolean, now: EntityView): void {
  const { last } = now.status;
  if (!hadOperation) {
    say(now.run === 'RUNNING' ? 'No operation runs.' : 'The workflow has ended.');
    return;
  }
  if (last === null || last.outcome === 'done' || last.outcome === 'superseded') return;
  throw new CliError(`${last.operation} ended as ${last.outcome}`, {
    remedy: `"keelson describe ${now.workflowId}" says why.`,
  });
}
