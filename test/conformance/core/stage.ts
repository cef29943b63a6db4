import { entityId, type ResourceRef } from '../../../workflows/shared/messages.ts';
import type { FailureCode } from '../../../workflows/shared/failure-codes.ts';
import { LIFECYCLE } from '../../simulation/lamp-row/contract.ts';
import type { ActivityName, WorldRow } from '../../simulation/lamp-row/world.ts';
import type { OperationEnd, Theatre } from '../../simulation/theatre.ts';

/** One row of lamps on a theatre: what the tests of the core say and ask, in short. */
export class Stage {
  readonly theatre: Theatre;
  readonly ref: ResourceRef;
  readonly entity: string;

  constructor(theatre: Theatre, name: string) {
    this.theatre = theatre;
    this.ref = { namespace: 'default', name };
    this.entity = entityId(LIFECYCLE, this.ref);
  }

  get row(): WorldRow | null {
    return this.theatre.world.row(this.ref);
  }

  /** What was done to the row, in order. */
  get effects(): readonly string[] {
    const prefix = `default/${this.ref.name}: `;
    return this.theatre.world.state.effects
      .filter((effect) => effect.startsWith(prefix))
      .map((effect) => effect.slice(prefix.length));
  }

  /** Applies a wish as a person does, and tells the entity as the trigger service does. */
  async apply(wish: Parameters<Theatre['world']['apply']>[1]): Promise<void> {
    await this.theatre.hint(this.ref, this.theatre.world.apply(this.ref, wish));
  }

  async delete(): Promise<void> {
    await this.theatre.hint(this.ref, this.theatre.world.delete(this.ref));
  }

  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    return this.theatre.until(what, holds);
  }

  untilLit(lamps: number): Promise<void> {
    return this.until(
      `${lamps} lamps are lit`,
      () => this.row?.lamps.length === lamps && this.settledAt === this.row.generation,
    );
  }

  /** The generation that the status says is as desired. */
  get settledAt(): number | null {
    const status = this.row?.status;
    return status?.reason === 'Settled' && status.phase === 'Lit' ? status.carriedOut : null;
  }

  untilStatus(reason: string): Promise<void> {
    return this.until(`the status says ${reason}`, () => this.row?.status?.reason === reason);
  }

  untilOperation(name: string): Promise<string> {
    return this.untilSome(`${name} runs`, async () => {
      const { operation } = await this.theatre.status(this.ref);
      return operation?.name === name ? operation.workflowId : null;
    });
  }

  /** Waits until a step of the running operation is under way. */
  untilStep(operation: string, kind: string): Promise<string> {
    return this.untilSome(`${kind} runs`, async () => {
      const { operation: running } = await this.theatre.status(this.ref);
      if (running?.name !== operation) return null;
      const { steps } = await this.theatre.progress(running.workflowId);
      const found = steps.some((step) => step.kind === kind && step.state === 'running');
      return found ? running.workflowId : null;
    });
  }

  async untilGone(): Promise<void> {
    await this.until(
      'the row and its workflow are gone',
      async () => this.row === null && !(await this.theatre.isOpen(this.entity)),
    );
  }

  /** Keeps an activity on this row from coming back until it is let go. */
  hold(activity: ActivityName): () => void {
    this.theatre.world.hold(this.ref, activity);
    return () => this.letGo(activity);
  }

  untilCaught(activity: ActivityName): Promise<void> {
    return this.until(`${activity} waits`, () => this.theatre.world.hasCaught(this.ref, activity));
  }

  untilWaiting(on: string, message?: string): Promise<void> {
    return this.until(`it waits on ${on}`, async () => {
      const { waiting } = await this.theatre.status(this.ref);
      return waiting?.on === on && (message === undefined || waiting.message === message);
    });
  }

  letGo(activity: ActivityName): void {
    this.theatre.world.letGo(this.ref, activity);
  }

  /** Lets an activity on this row fail so many times. */
  fail(activity: ActivityName, code: FailureCode, message: string, times: number): void {
    this.theatre.world.fail(this.ref, { activity, code, message, times });
  }

  failNoMore(): void {
    this.theatre.world.change((state) => void (state.failing = []));
  }

  async ended(): Promise<readonly OperationEnd[]> {
    return this.theatre.ended(this.ref);
  }

  /** The outcomes of the operations that have ended, as `light-up: done`. */
  async outcomes(): Promise<readonly string[]> {
    return (await this.ended()).map(
      (end) => `${end.operation}: ${end.status === 'completed' ? (end.result?.outcome ?? '') : end.status}`,
    );
  }

  async untilOutcome(outcome: string): Promise<void> {
    await this.until(outcome, async () => (await this.outcomes()).includes(outcome));
  }

  update(name: string, input?: unknown): Promise<string> {
    return this.theatre.update(this.ref, name, input);
  }

  async untilSome<T>(what: string, find: () => Promise<T | null>): Promise<T> {
    let found: T | null = null;
    await this.until(what, async () => {
      found = await find();
      return found !== null;
    });
    if (found === null) throw new Error(`it never came to pass that ${what}`);
    return found;
  }
}
