import { mkdirSync, readFileSync, renameSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { emptyWorld, type WorldState, type WorldStore } from '../../simulation/lamp-row/world.ts';

const STALE_MS = 2_000;

/** Keeps the world in a file that several processes share, one of which may be killed at any moment. */
export function fileStore(path: string): WorldStore {
  const lock = `${path}.lock`;
  const read = (): WorldState => {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as WorldState;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return emptyWorld();
      throw error;
    }
  };
  return {
    read,
    change(change) {
      takeLock(lock);
      try {
        const state = read();
        const result = change(state);
        writeFileSync(`${path}.next`, JSON.stringify(state));
        renameSync(`${path}.next`, path);
        return result;
      } finally {
        rmdirSync(lock);
      }
    },
  };
}

/** A directory is made by one process only; one that stays belonged to a process that was killed. */
function takeLock(lock: string): void {
  for (;;) {
    try {
      mkdirSync(lock);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const held = statSync(lock, { throwIfNoEntry: false });
    if (held !== undefined && Date.now() - held.mtimeMs > STALE_MS) rmdirSync(lock);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}
