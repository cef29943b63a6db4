import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { recordHistory } from './recorder.ts';

const HELP = `Records the history of a workflow, so that every later version is replayed against it.

  npm run histories:record -- --workflow-id valkey-cluster/default/cache --case idle

  --workflow-id ID     the workflow; its lifecycle is the first part of its id
  --case NAME          what it went through, e.g. create, create-superseded
  --version VERSION    the version of the code that it ran with (default 1)
  --rename FROM=TO     a name that the file should not have; may be repeated

  npm run histories:record -- --example

  --example            plays the example on the server, with a worker of its own, and records what it goes through

The server is the one of temporal.toml or of TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.`;

const { values } = parseArgs({
  options: {
    'workflow-id': { type: 'string' },
    case: { type: 'string' },
    version: { type: 'string', default: '1' },
    rename: { type: 'string', multiple: true, default: [] },
    example: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const { 'workflow-id': workflowId, case: name, version, rename } = values;

if (values.help) {
  console.log(HELP);
} else if (values.example) {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
  const { recordExample } = await import('./example.ts');
  await recordExample({ address: connectionOptions.address ?? '127.0.0.1:7233', namespace }, version);
} else if (workflowId === undefined || name === undefined) {
  console.error(HELP);
  process.exitCode = 2;
} else {
  await recordOne(workflowId, name);
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
