import type { EntityDesk } from './entity-desk.ts';
import { failureOf } from './failures.ts';
import type { Lifecycle, LifecycleTypes, News, Served, View } from './lifecycle.ts';
import type { ResourceRef } from './messages.ts';
import type { EntityPort, Indexed } from './port.ts';

/** A status is written again after this long even if it is the same: a late attempt of an operation may have written over it. */
const REPEAT_MS = 600_000;

/** Says what an entity is at: on the resource, in the Web UI and to queries. Only what is new is written. */
export class EntityVoice<T extends LifecycleTypes> {
  readonly #port: EntityPort<T['activities']>;
  readonly #lifecycle: Lifecycle<T>;
  readonly #ref: ResourceRef;
  readonly #desk: EntityDesk;
  #reported: { readonly text: string; readonly view: View<T>; readonly atMs: number } | null = null;
  #announced = '';

  constructor(
    port: EntityPort<T['activities']>,
    lifecycle: Lifecycle<T>,
    ref: ResourceRef,
    desk: EntityDesk,
  ) {
    this.#port = port;
    this.#lifecycle = lifecycle;
    this.#ref = ref;
    this.#desk = desk;
  }

  async report(view: View<T>): Promise<void> {
    this.#desk.conditions = this.#lifecycle.conditions(view);
    this.#desk.message = view.message;
    this.#port.show(view.message === '' ? `**${view.phase}**` : `**${view.phase}**: ${view.message}`);
    const text = JSON.stringify(view);
    if (this.#isWritten(text, view.served)) return;
    const { kind } = this.#lifecycle;
    this.#port.index({ kind, ref: this.#ref, phase: view.phase, operation: null });
    const written = await this.#attempt(() => this.#lifecycle.report(this.#port, view));
    this.#reported = written ? { text, view, atMs: this.#port.nowMs() } : null;
  }

  /** Whether this was written a while ago at most, and the resource still says so, as far as it tells. */
  #isWritten(text: string, told: Served): boolean {
    const reported = this.#reported;
    if (reported === null || reported.text !== text) return false;
    const { phase, carriedOut } = reported.view;
    if (told.phase !== phase || told.carriedOut !== carriedOut) return false;
    return this.#port.nowMs() - reported.atMs < REPEAT_MS;
  }

  /** Tells people of a turning point, once. */
  async announce(view: View<T>, news: News): Promise<void> {
    const text = JSON.stringify(news);
    if (text === this.#announced) return;
    this.#announced = text;
    await this.#attempt(() => this.#lifecycle.announce(this.#port, view, news));
  }

  /** From here on the operation writes the status, so that the entity knows no longer what it says. */
  handOver(summary: string, workflowId: string, indexed: Indexed): void {
    this.#reported = null;
    this.#port.show(`**${summary}**\n\nSteps and progress: workflow \`${workflowId}\``);
    this.#port.index(indexed);
  }

  /** A status that cannot be written stops nothing: a resource that went away is found out by the next observation. */
  async #attempt(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      const failed = failureOf(error);
      if (failed === null || failed.code === 'Cancelled') throw error;
      const trouble = `cannot write the status: ${failed.code}: ${failed.message}`;
      this.#desk.message = this.#desk.message === '' ? trouble : `${this.#desk.message} (${trouble})`;
      this.#port.show(this.#desk.message);
      return false;
    }
  }
}
