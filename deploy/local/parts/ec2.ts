import { fileURLToPath } from 'node:url';
import type { Part, PartContext } from '../part.ts';
import { checkTcp } from '../readiness.ts';

const PROGRAM = fileURLToPath(new URL('../ec2/main.ts', import.meta.url));

/** The queue that every event of the emulated EC2 goes to. */
const QUEUE = 'keelson-spot';

/** Where that queue is. */
export const spotQueueUrl = (context: PartContext): string =>
  `http://127.0.0.1:${context.portOf('moto', 'api')}/123456789012/${QUEUE}`;

/** EC2 as spot agents need it: the emulator, and before it what the emulator lacks. */
export const ec2: Part = {
  name: 'ec2',
  summary: 'EC2 with client tokens, capacity, notices, events, agents and prices that move',
  version: '1',
  starts: 'on-request',
  dependsOn: ['moto'],
  artifacts: [],
  ports: { api: 15001 },
  graceMs: 5_000,
  addresses: (context) => ({ api: `http://127.0.0.1:${context.port('api')}` }),
  command: (context) => ({
    program: process.execPath,
    args: [PROGRAM, String(context.port('api')), `http://127.0.0.1:${context.portOf('moto', 'api')}`, QUEUE],
  }),
  checkReady: (context) => checkTcp(context.port('api')),
};
