import { LampWorld } from '../../simulation/lamp-row/world.ts';
import { fileStore } from './file-store.ts';
import { startLampWorker } from './temporal-worker.ts';

// A worker of its own process, so that it can be killed.
const [address, namespace, world, workflowsPath] = process.argv.slice(2);
if (address === undefined || namespace === undefined || world === undefined)
  throw new Error('lamp-worker.ts ADDRESS NAMESPACE FILE [WORKFLOWS]');
await startLampWorker({ address, namespace }, new LampWorld(fileStore(world)), workflowsPath);
process.send?.('ready');
