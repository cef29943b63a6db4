import { flushCompileCache } from 'node:module';
import { readConfig } from '../../worker/config.ts';
import { runWorker } from '../../worker/run.ts';
import { createInstruments } from './instruments.ts';

// It will be killed, and could not write it at its end: the next one starts in half the time.
flushCompileCache();
const { hook, interceptor } = createInstruments(process.env['KEELSON_FAULT_RUN']);
await runWorker(readConfig(), { hook, interceptors: [interceptor] });
