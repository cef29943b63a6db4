import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createProgress } from '../../deploy/local/progress.ts';
import { startTestStack, type StackHandle } from '../../deploy/local/testing.ts';
import { runCampaign, type CampaignResult } from './campaign.ts';
import { disturbancesOf } from './disturbances.ts';
import { OPERATIONS } from './operations/index.ts';
import { keepResult, renderCount, renderResult } from './report.ts';

const USAGE = `usage: npm run faults -- <operation> [options]

Records one run of an operation, then kills the worker at every request, result and wait of it, one run after the
other, and checks what is left. Operations: ${Object.keys(OPERATIONS).join(', ')}.

  --point TEXT    only points whose name has this text
  --budget 60m    ends after this time and lists what it did not come to
  --chain 4       how many kills one run takes
  --resume        leaves out the points that the last campaign of this operation has passed
  --keep          writes the result into docs/faults.md

  npm run faults -- valkey-create --budget 30m
  npm run faults -- valkey-create --point "assignValkeySlots: after request"`;

const PARTS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'temporal',
  'nodes',
  'provisioner',
  'starter',
];

/** With these an attempt that died is taken up within two seconds. */
const TUNING = { heartbeatTimeoutMs: 1_500, retryInitialMs: 100, retryMaximumMs: 1_000 };

const STUCK_SECONDS = 120;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    point: { type: 'string' },
    budget: { type: 'string', default: '60m' },
    chain: { type: 'string', default: '4' },
    resume: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const [name = ''] = positionals;
const operation = OPERATIONS[name];
const budgetMinutes = Number(/^(\d+)m$/.exec(values.budget)?.[1] ?? Number.NaN);
if (values.help || operation === undefined || Number.isNaN(budgetMinutes)) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(values.help ? 0 : 2);
}

const passedFile = join(tmpdir(), `keelson-faults-${name}.json`);
process.env['KEELSON_TUNING'] = JSON.stringify(TUNING);
const stack = await startTestStack({ onlyParts: PARTS, progress: createProgress() });
try {
  const result = await campaign(stack);
  const passed = result.outcomes.filter((outcome) => outcome.ok).map((outcome) => outcome.point);
  writeFileSync(passedFile, JSON.stringify([...readPassed(), ...passed]));
  process.stdout.write(`${renderResult(result)}\n`);
  if (values.keep) await keepResult(name, result);
  process.stdout.write(`${renderCount(result.outcomes)}\n`);
  process.exitCode = result.outcomes.length > 0 && result.outcomes.every((outcome) => outcome.ok) ? 0 : 1;
} finally {
  await stack.stop();
}

function campaign(on: StackHandle): Promise<CampaignResult> {
  const directory = join(on.home, 'faults');
  mkdirSync(directory, { recursive: true });
  // The usage above has ended a run without an operation.
  if (operation === undefined) throw new Error('no operation');
  return runCampaign(operation(on), {
    directory,
    workerEnv: {
      KUBECONFIG: on.kubeconfig('worker'),
      TEMPORAL_ADDRESS: on.temporalAddress,
      TEMPORAL_NAMESPACE: 'default',
    },
    chained: Number(values.chain),
    stuckSeconds: STUCK_SECONDS,
    deadlineMs: Date.now() + budgetMinutes * 60_000,
    disturbances: disturbancesOf(on),
    ...(values.point === undefined ? {} : { only: values.point }),
    ...(values.resume ? { passed: new Set(readPassed()) } : {}),
    say: (line) => void process.stderr.write(`${line}\n`),
  });
}

function readPassed(): readonly string[] {
  if (!values.resume || !existsSync(passedFile)) return [];
  return JSON.parse(readFileSync(passedFile, 'utf8')) as string[];
}
