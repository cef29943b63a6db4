import { afterAll, beforeAll } from 'vitest';
import { useStack } from '../../../deploy/local/testing.ts';
import { LampWorld, memoryStore } from '../../simulation/lamp-row/world.ts';
import type { Theatre } from '../../simulation/theatre.ts';
import { describeCore } from './suite.ts';
import { temporalTheatre } from './temporal-theatre.ts';
import { startLampWorker } from './temporal-worker.ts';

let theatre: Theatre;

beforeAll(async () => {
  const stack = await useStack();
  const server = { address: stack.temporalAddress, namespace: await stack.createTemporalNamespace('core') };
  const store = memoryStore();
  const worker = await startLampWorker(server, new LampWorld(store));
  theatre = await temporalTheatre(server, store, () => worker.stop());
});
afterAll(() => theatre.close());

describeCore('a Temporal server', async () => theatre);
