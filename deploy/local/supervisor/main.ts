// The process that stays: it keeps the parts of one stack running until it is told to stop.
import { openHome, pathOf } from '../home.ts';
import { tryLock, unlock } from '../lock.ts';
import { messageOf } from '../stack-error.ts';
import { Supervisor } from './supervisor.ts';

const ALREADY_SUPERVISED = 3;

const home = openHome(process.argv[2]);
const note = (text: string): void => console.log(`${new Date().toISOString()} ${text}`);
const holder = tryLock(pathOf.lock(home));
if (holder !== undefined) {
  note(`process ${holder.pid} looks after this stack already`);
  process.exit(ALREADY_SUPERVISED);
}

const supervisor = new Supervisor(home, note);
// Nothing else keeps this process alive while every part is somebody else's child.
const heartbeat = setInterval(() => {}, 60_000);
let stopping = false;

async function stop(signal: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  note(`stopping all parts on ${signal}`);
  await supervisor.stop();
  unlock(pathOf.lock(home));
  clearInterval(heartbeat);
  note('all parts have stopped');
  process.exit(0);
}

async function fail(cause: unknown): Promise<void> {
  note(`the supervisor cannot go on: ${messageOf(cause)}`);
  await supervisor.stop();
  unlock(pathOf.lock(home));
  process.exit(1);
}

process.on('SIGTERM', () => void stop('SIGTERM').catch(fail));
process.on('SIGINT', () => void stop('SIGINT').catch(fail));
process.on('SIGHUP', () => void supervisor.apply().catch(fail));
await supervisor.apply().catch(fail);
