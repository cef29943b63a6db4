import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker, bundleWorkflowCode } from '@temporalio/worker';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliverHint } from '../../../starter/hint-delivery.ts';
import { readServers } from '../../conformance/starter/servers.ts';
import { keelson, startKeelson } from './command-line.ts';
import type { Ended } from './command-line.ts';

const namespace = `cli-${randomUUID().slice(0, 8)}`;
const taskQueue = namespace;
const ID = `valkey-cluster/${namespace}/cache`;
const WITHIN = { timeout: 30_000, interval: 100 };
let environment: Record<string, string>;
let connection: NativeConnection;
let client: Client;
let bundle: WorkflowBundleWithSourceMap;

const run = (...args: readonly string[]): Promise<Ended> => keelson(args, environment);

beforeAll(async () => {
  const logger = new DefaultLogger('ERROR');
  Runtime.install({ logger });
  const { temporalAddress } = await readServers();
  environment = { TEMPORAL_ADDRESS: temporalAddress };
  connection = await NativeConnection.connect({ address: temporalAddress });
  client = new Client({ connection });
  bundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./entity-workflow.ts', import.meta.url)),
    logger,
  });
  await start('cache');
});

afterAll(async () => {
  for await (const one of client.workflow.list({
    query: `ExecutionStatus = "Running" AND KeelsonNamespace = "${namespace}"`,
  }))
    await client.workflow.getHandle(one.workflowId).terminate('the test is over');
  await connection.close();
});

/** Starts an entity as the starter does. */
const start = (name: string): Promise<string> =>
  deliverHint(
    client,
    {
      workflowId: `valkey-cluster/${namespace}/${name}`,
      workflowType: 'valkeyCluster',
      kind: 'ValkeyCluster',
      ref: { namespace, name },
    },
    { kind: 'ValkeyCluster', uid: 'u1', generation: 1 },
    { taskQueue },
  );

const withWorker = async (work: () => Promise<void>): Promise<void> => {
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: bundle,
    // The next test's worker need not wait until the server has forgotten this one.
    stickyQueueScheduleToStartTimeout: '200ms',
  });
  await worker.runUntil(work);
};

describe('without a worker', () => {
  it('says that nobody can answer, and what to do', async () => {
    const ended = await run('describe', ID, '--timeout', '2');
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.err).toContain(`no worker serves the task queue "${taskQueue}"`);
    expect(ended.err).toContain('keelson up');
  });

  it('still lists what is indexed', async () => {
    await expect.poll(async () => (await run('list', '-n', namespace, '--quick')).out, WITHIN).toContain(ID);
    const ended = await run('list', '-n', namespace, '--timeout', '2');
    expect(ended.out).toContain(`no answer: see "keelson describe ${ID}"`);
    expect(ended.code).toBe(0);
  });
});

describe('with a worker', () => {
  it('shows an entity, by id and by kind and name, as text and as JSON', () =>
    withWorker(async () => {
      const text = await run('describe', ID);
      expect(text.code).toBe(0);
      expect(text.out).toContain('Pending');
      expect(text.out).toContain('Waits (approval): create needs an approval');
      expect(text.out).toContain(`keelson approve ${ID} --hash sha256:1234`);
      const json = await run('describe', 'valkeycluster', 'cache', '-n', namespace, '-o', 'json');
      expect(JSON.parse(json.out)).toMatchObject({
        workflowId: ID,
        run: 'RUNNING',
        approvalHash: 'sha256:1234',
        status: { phase: 'Pending', generation: 1 },
      });
      const list = await run('list', '-n', namespace);
      expect(list.out).toContain('approval: create needs an approval');
    }));

  it('finds Temporal by a profile of temporal.toml, and says which file is wrong', () =>
    withWorker(async () => {
      const file = join(tmpdir(), `${namespace}.toml`);
      const address = environment['TEMPORAL_ADDRESS'] ?? '';
      writeFileSync(file, `[profile.there]\naddress = "${address}"\nnamespace = "default"\n`);
      const there = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'there' };
      expect((await keelson(['describe', ID, '-o', 'json'], there)).out).toContain(ID);
      writeFileSync(file, '[profile.there\n');
      const wrong = await keelson(['describe', ID], there);
      expect(wrong).toMatchObject({ code: 2, out: '' });
      expect(wrong.err).toContain('the Temporal configuration cannot be used');
      rmSync(file);
    }));

  it('takes the namespace from the current context of the kubeconfig, unless -n tells another', () =>
    withWorker(async () => {
      const file = join(tmpdir(), `${namespace}.kubeconfig`);
      const context = { name: 'here', context: { cluster: 'c', user: 'u', namespace } };
      writeFileSync(file, JSON.stringify({ 'current-context': 'here', contexts: [context] }));
      const here = { ...environment, KUBECONFIG: file };
      const found = await keelson(['describe', 'valkeycluster', 'cache', '-o', 'json'], here);
      expect(JSON.parse(found.out)).toMatchObject({ workflowId: ID });
      const other = await keelson(['describe', 'valkeycluster', 'cache', '-n', 'elsewhere'], here);
      expect(other.err).toContain('there is no workflow for ValkeyCluster elsewhere/cache');
      rmSync(file);
    }));

  it('pauses and resumes, and passes refusals on in the words of the entity', () =>
    withWorker(async () => {
      expect(await run('resume', ID)).toMatchObject({ code: 1, err: 'keelson: it is not paused\n' });
      expect(await run('pause', ID, '--reason', 'a move')).toMatchObject({ code: 0, out: `${ID}: paused\n` });
      expect((await run('describe', ID)).out).toContain('Paused: a move');
      expect((await run('list', '-n', namespace)).out).toContain('resume: a move');
      expect(await run('resume', ID, '-o', 'json')).toMatchObject({ code: 0 });
      expect(await run('cancel', ID, '--reason', 'x')).toMatchObject({
        code: 1,
        err: 'keelson: no operation is running\n',
      });
      expect(await run('retry', ID)).toMatchObject({ code: 0, out: `${ID}: tried again now\n` });
      expect((await run('pause', ID)).code).toBe(2);
    }));

  it('plans from the live cluster by a workflow of its own id, and leaves the entity alone', () =>
    withWorker(async () => {
      const file = join(tmpdir(), `${namespace}.yaml`);
      writeFileSync(
        file,
        `apiVersion: valkey-operator.smoketurner.com/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: cache, namespace: ${namespace}}\nspec: {masters: 5}\n`,
      );
      const ended = await run('plan', '-f', file, '-o', 'json', '--task-queue', taskQueue);
      expect(ended.err).toBe('');
      expect(JSON.parse(ended.out)).toMatchObject({ resource: `${namespace}/cache`, totals: { masters: 5 } });
    }));

  it('shows the plan before it approves it, watches it run, and tells how it ended', () =>
    withWorker(async () => {
      const unread = await run('approve', ID);
      expect(unread).toMatchObject({ code: 2, out: '' });
      expect(unread.err).toContain('CreateShard  [cannot be undone]');
      expect(unread.err).toContain(`keelson approve ${ID} --hash sha256:1234`);
      const wrong = await run('approve', ID, '--hash', 'sha256:9');
      expect(wrong).toMatchObject({ code: 1, err: 'keelson: the plan has the hash sha256:1234\n' });
      const watching = startKeelson(['watch', ID], environment);
      await expect.poll(watching.out, WITHIN).toContain('Waits (approval)');
      const approved = await run('approve', ID, '--hash', 'sha256:1234', '--by', 'ada');
      expect(approved).toMatchObject({ code: 0, out: `${ID}: create is approved by ada\n` });
      const watched = await watching.ended;
      expect(watched.code).toBe(0);
      const lines = watched.out.split('\n').map((line) => line.slice(10));
      expect(lines).toEqual(
        expect.arrayContaining([
          'Pending: a new cluster is wanted',
          'Waits (approval): create needs an approval',
          'Creating',
          `operation create began (${ID}/create/u1-1.1)`,
          expect.stringMatching(/^✓ {2}1 CreateShard: it is wanted \(\d/),
          'Running',
          'create done after 1.5 s, 2 of 2 steps: 3 masters serve',
        ]),
      );
      const after = await run('watch', ID, '--wait', '0');
      expect(after).toMatchObject({ code: 0 });
      expect(after.err).toContain('No operation runs.');
    }));
});

describe('a mistake', () => {
  it('in the words of a command gets code 2 and a sentence', async () => {
    const [teapot, nothing, unreadable] = await Promise.all([
      run('describe', 'teapot', 'a'),
      run('plan'),
      run('plan', '-f', '/nonexistent/x.yaml'),
    ]);
    expect(teapot).toMatchObject({ code: 2, out: '' });
    expect(teapot.err).toContain('there is no lifecycle or kind "teapot"');
    expect(nothing).toMatchObject({ code: 2, out: '' });
    expect(nothing.err).toContain('it is not said what is to be planned');
    expect(unreadable).toMatchObject({ code: 2, out: '' });
    expect(unreadable.err).toContain('/nonexistent/x.yaml cannot be read');
  });

  it('in a name is answered with the names that there are', async () => {
    const ended = await run('describe', `valkey-cluster/${namespace}/cahce`);
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.err).toContain(`Did you mean ${ID}?`);
  });

  it('in the address is answered with how to get a Temporal', async () => {
    const ended = await keelson(['list', '--timeout', '2'], { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.err).toContain('there is no Temporal at 127.0.0.1:1');
    expect(ended.err).toContain('keelson up');
  });

  it('in the namespace is named', async () => {
    const ended = await keelson(['list'], { ...environment, TEMPORAL_NAMESPACE: 'nowhere' });
    expect(ended.err).toContain('has no namespace "nowhere"');
  });
});
