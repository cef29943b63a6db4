import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '../api/objects.ts';
import type { PodRecord } from '../pod/record.ts';

/** Replaces a file so that a crash leaves the old or the new content, never half of it. */
export function writeFileAtomically(path: string, content: string): void {
  writeFileSync(`${path}.tmp`, content, { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}

/** A pod as it was last seen, with what is known about its containers. */
export interface SavedPod {
  readonly pod: Pod;
  readonly record: PodRecord;
}

const fileName = 'state.json';

/** Writes down a pod; called at every change that a restart of this process must remember. */
export function savePod(directory: string, saved: SavedPod): void {
  writeFileAtomically(join(directory, fileName), JSON.stringify(saved));
}

/** All pods that are written down below a directory; one that cannot be read is reported and left alone. */
export function loadPods(directory: string, onTrouble: (path: string, error: unknown) => void): SavedPod[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name, fileName);
    // Nothing was begun for a pod that was never written down.
    if (!existsSync(path)) {
      removePod(join(directory, name));
      return [];
    }
    try {
      return [JSON.parse(readFileSync(path, 'utf8')) as SavedPod];
    } catch (error) {
      onTrouble(path, error);
      return [];
    }
  });
}

/** Removes all that a pod left on the disk, except its persistent volumes, which are elsewhere. */
export function removePod(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}
