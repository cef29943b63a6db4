import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../../worker/config.ts';
import { runWorker } from '../../../worker/run.ts';
import { fileURLToPath } from 'node:url';

/** A worker as in service, that writes down what its attempts do and can be held just before it changes something. */
const record = process.env['TEST_RECORD'] ?? '';
const hold = process.env['TEST_HOLD'] ?? '';
const note = (text: string): void => appendFileSync(record, `${text}\n`);

await runWorker(readConfig(), {
  workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
  hook: {
    async before({ verb }) {
      note(`before ${verb}`);
      while (existsSync(hold)) await sleep(20);
    },
    after: ({ verb }) => note(`after ${verb}`),
  },
  interceptors: [
    ({ info }) => ({
      inbound: {
        async execute(input, next) {
          note(`began ${info.activityType} ${info.attempt}`);
          try {
            return await next(input);
          } finally {
            note(`ended ${info.activityType} ${info.attempt}`);
          }
        },
      },
    }),
  ],
});
