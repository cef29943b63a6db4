import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveArtifact } from '../../../deploy/local/cache/resolve.ts';
import { temporalCli } from '../../../deploy/local/parts/temporal.ts';
import { silentProgress } from '../../../deploy/local/progress.ts';
import { useStack, type StackHandle } from '../../../deploy/local/testing.ts';
import { spotAgentId } from '../../../workflows/spot-agent/contract.ts';
import { openEc2Stage, type Ec2Stage } from '../../conformance/spot-agent/ec2-stage.ts';

const README = readFileSync(new URL('../../../workflows/spot-agent/README.md', import.meta.url), 'utf8');
const BIN = fileURLToPath(new URL('../../../bin/keelson.mjs', import.meta.url));

/** The commands of the README from a heading on, each on one line. */
function commandsAfter(heading: string): readonly string[] {
  const section = README.slice(README.indexOf(heading)).split('\n## ')[0] ?? '';
  const fences = [...section.matchAll(/```\n([^`]*)```/g)].map((match) => match[1] ?? '');
  const lines = fences.flatMap((text) => text.split(/\n(?=curl |temporal |keelson |mysql |npx )/));
  return lines.map((line) => line.replaceAll('\\\n', ' ').trim());
}

let stack: StackHandle;
let ec2: Ec2Stage;
let primary: string;
const directory = mkdtempSync(join(tmpdir(), 'keelson-readme-'));
const named: Record<string, string> = {};
beforeAll(async () => {
  stack = await useStack();
  await stack.startParts('mariadb', 'ec2', 'spot-api');
  ec2 = await openEc2Stage();
  ({ instanceId: primary } = await ec2.activities.launchEc2Instance(
    ec2.launchOf('readme', { az: 'us-east-1a' }),
  ));
  writeFileSync(join(directory, 'keelson'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  writeFileSync(join(directory, 'npx'), '#!/bin/sh\nexec "$@"\n');
  for (const name of ['keelson', 'npx']) chmodSync(join(directory, name), 0o755);
});
afterAll(async () => {
  await ec2.behave({ capacity: [] });
  ec2.close();
  rmSync(directory, { recursive: true });
  const { CLIENT, AGENT } = named;
  if (CLIENT === undefined || AGENT === undefined) return;
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const entity = spotAgentId({ namespace: CLIENT, name: AGENT });
  await new Client({ connection }).workflow.getHandle(entity).terminate('the examples are over');
  await connection.close();
});

/** Runs a line as a person types it; what a person sees in it is this stack's. */
async function typed(line: string): Promise<string> {
  const temporal = await resolveArtifact(temporalCli, silentProgress, new AbortController().signal);
  const said = line
    .replaceAll('localhost:19466', new URL(stack.addresses('spot-api')['http'] ?? '').host)
    .replaceAll('http://127.0.0.1:19466', stack.addresses('spot-api')['http'] ?? '')
    .replaceAll('localhost:19467', new URL(stack.addresses('spot-api')['metrics'] ?? '').host)
    .replaceAll('localhost:15001', new URL(ec2.url).host)
    .replaceAll('i-0123456789abcdef0', primary)
    .replaceAll('i-0fedcba9876543210', named['REPLICA'] ?? '');
  const env = {
    ...process.env,
    ...named,
    PATH: [directory, dirname(temporal.file('temporal')), process.env['PATH']].join(':'),
    KEELSON_HOME: stack.home,
    TEMPORAL_ADDRESS: stack.temporalAddress,
  };
  const whole = `curl() { command curl -sS --fail-with-body "$@"; }; ${said}`;
  return new Promise((resolve, reject) => {
    execFile('bash', ['-c', whole], { env }, (error, out, err) =>
      error === null ? resolve(out) : reject(new Error(`${said}\n${out}${err}`)),
    );
  });
}

/** Types the one command that has these words in it. */
async function type(words: string): Promise<string> {
  const found = [...commandsAfter('# Spot agents\n'), ...commandsAfter('## By hand')].filter((line) =>
    line.includes(words),
  );
  expect([words, found.length]).toEqual([words, 1]);
  return typed(found[0] ?? '');
}

const json = async (words: string): Promise<Record<string, unknown>> =>
  JSON.parse(await type(words)) as Record<string, unknown>;

it('is true: every command of the README does what is said of it', async () => {
  await type('db migrate');
  named['TOKEN'] = (await type('spot client add')).trim();
  expect(named['TOKEN']).toMatch(/^kst_/);
  named['CLIENT'] = /^(cl-\w+)/m.exec(await typed('keelson spot client list | tail -n 1'))?.[1] ?? '';

  const registered = await json('agents/register');
  expect(registered).toMatchObject({ role: 'primary', epoch: 0, config: { enabled: true } });
  named['AGENT'] = String(registered['agent_id']);
  expect(await json('"manual_replica": true')).toMatchObject({ config: { manual_replica: true } });
  await expect
    .poll(
      async () => {
        const { replicas } = await json('/emergency-status');
        named['REPLICA'] = (replicas as readonly { instance_id?: string }[])[0]?.instance_id ?? '';
        return named['REPLICA'];
      },
      { timeout: 60_000 },
    )
    .toMatch(/^i-/);
  expect(await json('/switch ')).toMatchObject({ message: expect.stringContaining(named['REPLICA'] ?? '') });
  expect(await json('/termination-notice')).toMatchObject({ data: { effect: 'new' } });

  expect(await type('--type status')).toContain('phase');
  await type('--name pause');
  await typed('keelson resume spot-agent/$CLIENT/$AGENT');
  await type('--type sweepSpotFleet');
  expect(await type('keelson plan')).not.toBe('');
  await type('keelson pause');

  for (const words of ['control/image', 'control/announce', 'control/behaviour', 'control/agents'])
    await type(words);
  expect(await type('/metrics')).toContain(
    `instance_status{client="${named['CLIENT']}",status="running_primary"} 1`,
  );
});
