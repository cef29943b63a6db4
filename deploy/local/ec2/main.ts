import { createEmulatorServer } from './server.ts';

const [port, motoUrl, queue] = process.argv.slice(2);
if (port === undefined || motoUrl === undefined || queue === undefined)
  throw new Error('usage: main.ts PORT MOTO_URL QUEUE');

const emulator = createEmulatorServer(motoUrl, Number(port));
const url = await emulator.openQueue(queue);
emulator.server.listen(Number(port), '127.0.0.1', () =>
  console.log(`EC2 is emulated on port ${port}, over ${motoUrl}; its events go to ${url}`),
);
process.once('SIGTERM', () => emulator.close());
