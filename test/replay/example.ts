import { Stage } from '../conformance/core/stage.ts';
import { temporalTheatre } from '../conformance/core/temporal-theatre.ts';
import { startLampWorker } from '../conformance/core/temporal-worker.ts';
import { LampWorld, memoryStore } from '../simulation/lamp-row/world.ts';
import { EXAMPLE_CASES } from './example-cases.ts';
import { recordHistory } from './recorder.ts';

/** Plays the example's cases on a server, and records the histories of what they go through. */
export async function recordExample(
  server: { readonly address: string; readonly namespace: string },
  version: string,
): Promise<void> {
  const store = memoryStore();
  const worker = await startLampWorker(server, new LampWorld(store));
  const theatre = await temporalTheatre(server, store, () => worker.stop());
  const keep = async (workflowId: string, name: string): Promise<void> => {
    const recording = { workflowId, lifecycle: 'lamp-row', case: name, version, renames: new Map() };
    console.log(await recordHistory(theatre.client, recording));
  };
  try {
    for (const [name, play] of Object.entries(EXAMPLE_CASES)) {
      await play(new Stage(theatre, name.toLowerCase()), keep, theatre);
    }
  } finally {
    await theatre.close();
  }
}
