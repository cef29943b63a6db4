import { readConfig } from '../../worker/config.ts';
import { runWorker } from '../../worker/run.ts';
import { createInstruments } from './instruments.ts';

const { hook, interceptor } = createInstruments(process.env['KEELSON_FAULT_RUN']);
await runWorker(readConfig(), { hook, interceptors: [interceptor] });
