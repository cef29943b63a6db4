import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { createProgress } from '../../deploy/local/progress.ts';
import type { StackHandle } from '../../deploy/local/testing.ts';
import { endCleanly, startStackFor } from '../clean-end.ts';
import { recordExample } from './example.ts';
import { recordHistory } from './recorder.ts';
import { recordSpot } from './spot-cases.ts';
import { recordValkey } from './valkey-cases.ts';
import { recordUpgrades } from './valkey-upgrade-cases.ts';

type Play = (stack: StackHandle) => Promise<void>;

/** What is played for the histories of each lifecycle. */
const PLAYS: Readonly<Record<string, Play>> = {
  'lamp-row': async (stack) => {
    const namespace = await stack.createTemporalNamespace('example');
    await recordExample({ address: stack.temporalAddress, namespace }, version);
  },
  'spot-agent': (stack) => recordSpot(stack, version),
  'valkey-cluster': (stack) => recordValkey(stack, version),
  'valkey-upgrade': (stack) => recordUpgrades(stack, version),
};

const HELP = `Records histories, so that every later version is replayed against them.

  npm run histories:record

Starts a stack of its own, plays what each lifecycle has in test/replay/, and records what that goes through.

  --lifecycle NAME     one of them only: ${Object.keys(PLAYS).join(', ')}
  --version VERSION    the version of the code, as part of the file's name (default 1)

  npm run histories:record -- --workflow-id valkey-cluster/default/cache --case idle

Records one workflow of the server of temporal.toml, or of TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.

  --workflow-id ID     the workflow; its lifecycle is the first part of its id
  --case NAME          what it went through, e.g. create, create-superseded
  --rename FROM=TO     a name that the file should not have; may be repeated`;

const { values } = parseArgs({
  options: {
    'workflow-id': { type: 'string' },
    case: { type: 'string' },
    lifecycle: { type: 'string' },
    version: { type: 'string', default: '1' },
    rename: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
});
const { 'workflow-id': workflowId, case: name, lifecycle, version, rename } = values;
const isOne = workflowId !== undefined && name !== undefined;
const isAll = workflowId === undefined && name === undefined;

if (values.help) {
  console.log(HELP);
} else if (isOne) {
  await recordOne(workflowId, name);
} else if (isAll && (lifecycle === undefined || lifecycle in PLAYS)) {
  await recordAll(Object.entries(PLAYS).filter(([play]) => lifecycle === undefined || play === lifecycle));
} else {
  console.error(HELP);
  process.exitCode = 2;
}

async function recordAll(plays: readonly (readonly [string, Play])[]): Promise<void> {
  await endCleanly(async (afterwards, interrupted) => {
    const stack = await startStackFor(afterwards, { progress: createProgress(), signal: interrupted });
    for (const [, play] of plays) await play(stack);
  });
}

async function recordOne(id: string, caseName: string): Promise<void> {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const connection = await Connection.connect(connectionOptions);
  try {
    const client = new Client({ connection, ...(namespace === undefined ? {} : { namespace }) });
    const renames = rename.map((pair): [string, string] => {
      const [from = '', to = ''] = pair.split('=');
      return [from, to];
    });
    const file = await recordHistory(client, {
      workflowId: id,
      lifecycle: id.split('/')[0] ?? '',
      case: caseName,
      version,
      renames: new Map(renames),
    });
    console.log(file);
  } finally {
    await connection.close();
  }
}
