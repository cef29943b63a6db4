import { readFileSync, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Image, ImageCatalogue } from '../config.ts';

/** The image catalogue, read again when its file changes. */
export class Images {
  private readonly file: string;
  private catalogue: ImageCatalogue = {};
  private readAtMs = -1;

  constructor(file: string) {
    this.file = file;
  }

  /** Looks an image up by the name that the pod uses. */
  find(name: string): Image | undefined {
    this.refresh();
    return Object.hasOwn(this.catalogue, name) ? this.catalogue[name] : undefined;
  }

  /** Calls back when the catalogue may have changed. */
  watch(onChange: () => void, signal: AbortSignal): void {
    const name = basename(this.file);
    const watcher = watch(dirname(this.file), { signal, persistent: false }, (_event, changed) => {
      if (changed === null || changed === name) onChange();
    });
    // Losing the watch only costs speed: the file is looked at again at every attempt to start a container.
    watcher.on('error', () => watcher.close());
  }

  private refresh(): void {
    const changedAtMs = statSync(this.file, { throwIfNoEntry: false })?.mtimeMs;
    if (changedAtMs === undefined || changedAtMs === this.readAtMs) return;
    this.catalogue = JSON.parse(readFileSync(this.file, 'utf8')) as ImageCatalogue;
    this.readAtMs = changedAtMs;
  }
}
