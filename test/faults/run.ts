import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createProgress } from '../../deploy/local/progress.ts';
import type { StackHandle } from '../../deploy/local/testing.ts';
import { endCleanly, startStackFor, type Afterwards } from '../clean-end.ts';
import { runCampaign, type CampaignOptions } from './campaign.ts';
import { disturbancesOf } from './disturbances.ts';
import type { OpenedOperation } from './operation.ts';
import { OPERATIONS } from './operations/index.ts';
import { PassedPoints } from './passed-points.ts';
import { keepResult, renderCount, renderResult } from './report.ts';
import { TUNING } from './tuning.ts';

const USAGE = `usage: npm run faults -- <operation> [options]

Records one run of an operation, then kills the worker at every request, result and wait of it, one run after the
other, and checks what is left. Operations: ${Object.keys(OPERATIONS).join(', ')}.

  --point TEXT    only points whose name has this text
  --seed N        chains other points, and disturbs at other moments
  --budget 60m    ends after this time and lists what it did not come to
  --chain 4       how many kills one run takes
  --resume        takes over what the last campaign of this operation has passed, however it ended
  --keep          writes the result into docs/faults.md

  npm run faults -- valkey-create --budget 30m
  npm run faults -- valkey-create --point "assignValkeySlots: after request"`;

const STUCK_SECONDS = 120;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    point: { type: 'string' },
    seed: { type: 'string', default: '1' },
    budget: { type: 'string', default: '60m' },
    chain: { type: 'string', default: '4' },
    resume: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const [name = ''] = positionals;
const setting = OPERATIONS[name];
const budgetMinutes = Number(/^(\d+)m$/.exec(values.budget)?.[1] ?? Number.NaN);
if (values.help || setting === undefined || Number.isNaN(budgetMinutes)) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(values.help ? 0 : 2);
}
const played = setting;
const deadlineMs = Date.now() + budgetMinutes * 60_000;
process.env['KEELSON_TUNING'] = JSON.stringify(TUNING);

const { outcomes } = await endCleanly(async (afterwards, interrupted) => {
  const stack = await startStackFor(afterwards, {
    onlyParts: played.parts,
    progress: createProgress(),
    signal: interrupted,
  });
  const opened = await played.open(stack, afterwards);
  const result = await runCampaign(opened.operation, optionsFor(stack, opened, afterwards));
  process.stdout.write(`${renderResult(result)}\n`);
  if (values.keep) await keepResult(name, result, values.resume);
  return result;
});
process.stdout.write(`${renderCount(outcomes)}\n`);
process.exitCode = outcomes.length > 0 && outcomes.every((outcome) => outcome.ok) ? 0 : 1;

function optionsFor(
  stack: StackHandle,
  { workerEnv, disturbances = [] }: OpenedOperation,
  afterwards: Afterwards,
): CampaignOptions {
  const directory = join(stack.home, 'faults');
  mkdirSync(directory, { recursive: true });
  const passed = new PassedPoints(name, values.resume);
  return {
    directory,
    afterwards,
    workerEnv: {
      ...workerEnv,
      TEMPORAL_ADDRESS: stack.temporalAddress,
      TEMPORAL_NAMESPACE: 'default',
    },
    chained: Number(values.chain),
    seed: values.seed,
    stuckSeconds: STUCK_SECONDS,
    deadlineMs,
    disturbances: [...disturbancesOf(stack, played.mortal), ...disturbances],
    ...(values.point === undefined ? {} : { only: values.point }),
    passed: passed.outcomes,
    tell: (outcome) => passed.add(outcome),
    say: (line) => void process.stderr.write(`${line}\n`),
  };
}
