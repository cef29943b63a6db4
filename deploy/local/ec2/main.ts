import { createEmulatorServer } from './server.ts';

const [port, motoUrl] = process.argv.slice(2);
if (port === undefined || motoUrl === undefined) throw new Error('usage: main.ts PORT MOTO_URL');

const server = createEmulatorServer(motoUrl);
server.listen(Number(port), '127.0.0.1', () =>
  console.log(`EC2 is emulated on port ${port}, over ${motoUrl}`),
);
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
