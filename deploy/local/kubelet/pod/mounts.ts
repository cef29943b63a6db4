import type { Pod } from '../api/objects.ts';
import type { VolumeSet } from '../volumes/volume-set.ts';
import type { NodeFacts } from './fields.ts';

/** What the volumes of a pod are mounted for. */
export interface MountOwner {
  readonly pod: () => Pod;
  readonly facts: () => NodeFacts;
  readonly mounted: () => void;
  readonly failed: (message: string) => void;
}

const retryFirstMs = 500;
const retryLastMs = 4_000;

/** Mounts the volumes of one pod and keeps their content up to date: one attempt at a time, again until it works. */
export class PodMounts {
  private readonly volumes: VolumeSet;
  private readonly owner: MountOwner;
  private working: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private again = false;
  private failures = 0;
  private closed = false;

  constructor(volumes: VolumeSet, owner: MountOwner) {
    this.volumes = volumes;
    this.owner = owner;
  }

  /** Begins to mount unless that is under way or waits for its next attempt. */
  ensure(): void {
    if (this.timer === undefined && !this.closed) this.working ??= this.work();
  }

  /** Mounts afresh because something changed, also when it changed during an attempt. */
  repeat(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.again = this.working !== undefined;
    this.ensure();
  }

  /** Resolves when nothing is written any more, nor ever will be. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.working;
  }

  private async work(): Promise<void> {
    do {
      this.again = false;
      try {
        await this.volumes.mount(this.owner.pod(), this.owner.facts());
        this.failures = 0;
        this.owner.mounted();
      } catch (error) {
        this.owner.failed(error instanceof Error ? error.message : String(error));
        this.failures += 1;
      }
    } while (this.again && !this.closed);
    this.working = undefined;
    if (this.failures > 0 && !this.closed) this.retryLater();
  }

  private retryLater(): void {
    const waitMs = Math.min(retryFirstMs * 2 ** (this.failures - 1), retryLastMs);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.ensure();
    }, waitMs);
  }
}
