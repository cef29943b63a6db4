import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import type { Theatre } from '../../simulation/theatre.ts';
import { fileStore } from './file-store.ts';
import { Stage } from './stage.ts';
import { temporalTheatre } from './temporal-theatre.ts';

const NEXT_VERSION = fileURLToPath(new URL('./next-workflow.ts', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./lamp-worker.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'lamp-world-'));
const file = join(directory, 'world.json');
let server: { readonly address: string; readonly namespace: string };
let theatre: Theatre;
let worker: ChildProcess | null = null;

beforeAll(async () => {
  const stack = await useStack();
  server = { address: stack.temporalAddress, namespace: await stack.createTemporalNamespace('death') };
  theatre = await temporalTheatre(server, fileStore(file), kill);
});
afterEach(kill);
afterAll(async () => {
  await theatre.close();
  rmSync(directory, { recursive: true });
});

async function start(...workflows: readonly string[]): Promise<void> {
  worker = fork(PROGRAM, [server.address, server.namespace, file, ...workflows], { stdio: 'inherit' });
  await once(worker, 'message');
}

/** Ends the worker as a power cut does. */
async function kill(): Promise<void> {
  if (worker === null) return;
  const gone = once(worker, 'exit');
  worker.kill('SIGKILL');
  await gone;
  worker = null;
}

it('carries an operation on in another process when its own is killed in the middle of a step', async () => {
  const row = new Stage(theatre, 'killed-in-step');
  await start();
  const letGo = row.hold('screwInLamp');
  await row.apply({ wanted: 3 });
  await row.untilCaught('screwInLamp');
  await kill();
  letGo();
  await start();
  await row.untilLit(3);
  expect(await row.outcomes()).toEqual(['light-up: done']);
  expect(row.effects.toSorted()).toEqual(['screw in 0', 'screw in 1', 'screw in 2']);
});

it('undoes, in another process, what was cancelled while none ran', async () => {
  const row = new Stage(theatre, 'killed-in-wait');
  await start();
  row.hold('awaitLampWarm');
  await row.apply({ wanted: 2 });
  const workflowId = await row.untilStep('light-up', 'AwaitWarm');
  await row.untilCaught('awaitLampWarm');
  await kill();
  await theatre.cancel(workflowId);
  await start();
  await row.untilStatus('OperationCancelled');
  row.letGo('awaitLampWarm');
  expect(row.row?.lamps).toEqual([]);
  expect(await row.outcomes()).toEqual(['light-up: cancelled']);
});

it('finishes under the next version what began under this one, and does the next one’s way after that', async () => {
  const row = new Stage(theatre, 'upgraded');
  await start();
  const letGo = row.hold('screwInLamp');
  await row.apply({ wanted: 3 });
  await row.untilCaught('screwInLamp');
  await kill();
  letGo();
  await start(NEXT_VERSION);
  await row.untilLit(3);
  await row.apply({ wanted: 4 });
  await row.untilLit(4);
  const facts = (await row.ended()).map((end) => end.result?.facts);
  expect(await row.outcomes()).toEqual(['light-up: done', 'light-up: done']);
  expect(facts).toEqual([{ version: 2 }, { version: 2 }]);
});

it('goes on under the next version, whose guards allow what those of this one made it wait for', async () => {
  const row = new Stage(theatre, 'allowed');
  await start();
  await row.apply({ wanted: 9 });
  await row.untilWaiting('guard');
  await kill();
  await start(NEXT_VERSION);
  await theatre.hint(row.ref);
  await row.until('the lamps are in', () => row.row?.lamps.length === 8);
  await row.untilOutcome('light-up: done');
});
