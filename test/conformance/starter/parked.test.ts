import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EntityClient } from '../../../starter/cli/entity-client.ts';
import { targetOf } from '../../../starter/cli/target.ts';
import { lampWatch } from './lamp.ts';
import { readServers } from './servers.ts';
import { StarterStage } from './starter-stage.ts';

let stage: StarterStage;
let connection: NativeConnection;
const WITHIN = { timeout: 120_000, interval: 200 };

beforeAll(async () => {
  // The failures of the broken workflow are what is tested: nobody wants to read them.
  Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined) });
  stage = await StarterStage.open();
  connection = await NativeConnection.connect({ address: (await readServers()).temporalAddress });
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await connection.close();
});

const createWorker = (file: string): Promise<Worker> =>
  Worker.create({
    connection,
    taskQueue: stage.taskQueue,
    workflowsPath: fileURLToPath(new URL(file, import.meta.url)),
    stickyQueueScheduleToStartTimeout: '200ms',
  });

/** The lamp as the command line talks to it. */
const dark = (): EntityClient =>
  new EntityClient(
    { client: stage.client, address: '', deadlineMs: 2_000 },
    targetOf(lampWatch, { namespace: stage.lamps.namespace, name: 'dark' }),
  );

describe('a workflow that is parked', () => {
  it('is reported on its resource with what to do, and the report is withdrawn when it goes on', async () => {
    await stage.start();
    await stage.lamps.create('dark');
    await stage.lamps.mergeStatus('dark', {
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    });
    const broken = await createWorker('./broken-lamp-workflow.ts');
    await broken.runUntil(async () => {
      await expect
        .poll(() => stage.lamps.condition('dark', 'Parked'), WITHIN)
        .toMatchObject({ status: 'True', reason: 'WorkflowParked', observedGeneration: 1 });
      // Nobody waits for ever at a prompt: the command line says in words why there is no answer.
      await expect(dark().status()).rejects.toThrow(`${stage.workflowId('dark')} is parked`);
      await expect(dark().update('retry')).rejects.toThrow('is parked');
    });
    const parked = await stage.lamps.condition('dark', 'Parked');
    expect(parked?.['message']).toContain(`temporal workflow show --workflow-id ${stage.workflowId('dark')}`);
    expect(await stage.lamps.condition('dark', 'Ready')).toMatchObject({ status: 'True' });
    await expect.poll(() => stage.lamps.events('dark'), WITHIN).toEqual(['WorkflowParked']);

    const repaired = await createWorker('./lamp-workflow.ts');
    await repaired.runUntil(async () => {
      await expect.poll(() => stage.lamps.condition('dark', 'Parked'), WITHIN).toBeNull();
    });
    expect(await stage.lamps.condition('dark', 'Ready')).toMatchObject({ status: 'True' });
    await expect
      .poll(async () => [...(await stage.lamps.events('dark'))].sort(), WITHIN)
      .toEqual(['WorkflowGoesOn', 'WorkflowParked']);
  });
});
