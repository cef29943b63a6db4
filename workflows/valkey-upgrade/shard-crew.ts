import { failure, failureOf } from '../shared/failures.ts';
import type { OperationResult, StepProgress } from '../shared/messages.ts';
import type { OperationRun } from '../shared/operation.ts';
import type { Facts, Json, PlanEnvelope } from '../shared/plan.ts';
import type { Child } from '../shared/port.ts';
import { Stopped } from '../shared/stopping.ts';
import { KIND, type ValkeyTypes } from '../valkey-cluster/contract.ts';
import type { ValkeyCommand, ValkeyStep } from '../valkey-cluster/domain/commands.ts';
import {
  isAgreement,
  isShardSkip,
  SHARD_WORKFLOW,
  type Agreement,
  type ShardInput,
  type ShardNews,
  type ShardOrder,
  type ShardSkip,
} from './contract.ts';

type Run = OperationRun<ValkeyTypes>;

/** The workflow of one shard, as far as it has come. */
interface Hand {
  readonly child: Child;
  steps: readonly StepProgress[];
  end: { readonly result: OperationResult } | { readonly error: unknown } | null;
}

/** The workflows of the shards: started when their first step is due, told what people want, and heard. */
export class ShardCrew {
  readonly #run: Run;
  readonly #order: (shard: number) => ShardOrder;
  readonly #hands = new Map<number, Hand>();
  readonly #begun = new Set<number>();
  readonly #skipped = new Set<number>();

  constructor(
    run: Run,
    order: (shard: number) => ShardOrder,
    isUntouched: (shard: number) => boolean,
    heard: (news: ShardNews | Agreement | { readonly skip: ShardSkip }) => void,
  ) {
    this.#run = run;
    this.#order = order;
    run.port.hear((news) => {
      if (isAgreement(news)) {
        heard(news);
        // Shards that wait for it hear it; to the others it is nothing new.
        for (const hand of this.#hands.values()) if (hand.end === null) void hand.child.tell(news);
        return;
      }
      if (isShardSkip(news)) {
        const { shard } = news.skip;
        // One that is worked on, or was, must be brought to its end: only the others can be left out.
        if (this.#begun.has(shard) || !isUntouched(shard)) return;
        this.#skipped.add(shard);
        heard(news);
        return;
      }
      // Otherwise only our own children tell, in the words of their contract.
      const told = news as unknown as ShardNews;
      const hand = this.#hands.get(told.shard.shardIndex);
      if (hand !== undefined) hand.steps = told.steps;
      heard(told);
    });
  }

  /** Waits until a step was performed by the workflow of its shard; gives what was measured. */
  async follow(step: ValkeyStep, before: (shard: number) => Promise<void>): Promise<Facts> {
    const shard = shardOf(step);
    if (this.#skipped.has(shard)) return { skipped: true };
    const own = this.#run.input.plan.steps.filter((one) => shardOf(one) === shard);
    if (!this.#hands.has(shard)) await before(shard);
    // Somebody may have decided so while it was waited.
    if (this.#skipped.has(shard)) return { skipped: true };
    this.#begun.add(shard);
    const hand = this.#hands.get(shard) ?? (await this.#start(shard, own));
    const isLast = own.at(-1)?.id === step.id;
    const done = (): StepProgress | undefined =>
      hand.steps.find((one) => one.id === step.id && one.state === 'done');
    await this.#run.port.until(() => hand.end !== null || (!isLast && done() !== undefined), {
      summary: `${step.id} ${step.kind} of shard ${shard}`,
    });
    if (hand.end !== null) await this.#judge(hand);
    return done()?.facts ?? {};
  }

  /** Whether a shard has failed or was stopped, so that no other is begun any more. */
  get isBroken(): boolean {
    return [...this.#hands.values()].some(
      ({ end }) => end !== null && ('error' in end || end.result.outcome !== 'done'),
    );
  }

  /** Ends the shards that are still worked on, each at its next safe point, and waits until none is. */
  async stop(reason: string): Promise<void> {
    const busy = [...this.#hands.values()].filter((hand) => hand.end === null);
    await Promise.all(busy.map((hand) => hand.child.stop({ why: 'superseded', reason })));
    const summary = 'the other shards come to a safe point';
    await this.#run.port.until(() => busy.every((hand) => hand.end !== null), { summary });
  }

  /** A shard that was stopped ends the upgrade where it stands; one that failed, by its failure. */
  async #judge({ end }: Hand): Promise<void> {
    if (end === null) return;
    if ('error' in end) throw end.error;
    if (end.result.outcome === 'done') return;
    await this.#run.safePoint();
    // It found itself what ends all of this, as the deletion of its cluster.
    if (end.result.outcome === 'superseded')
      throw new Stopped({ why: 'superseded', reason: end.result.message });
    // What a guard found before a step that cannot be undone may be gone when all is looked at and planned again.
    if (end.result.outcome === 'blocked') throw failure('GuardBlocked', end.result.message);
    throw new Error(`a shard ended as ${end.result.outcome}: ${end.result.message}`);
  }

  async #start(shard: number, steps: readonly ValkeyStep[]): Promise<Hand> {
    const { port, input, ref, served, phase, observed } = this.#run;
    const order = this.#order(shard);
    const plan: PlanEnvelope<ValkeyCommand> = { ...input.plan, steps, blocked: [], unknown: [] };
    const shardInput: ShardInput = {
      ref,
      served,
      plan,
      phase: order.status.status,
      observed,
      carriedOut: input.carriedOut,
      order,
      ...(input.tuning === undefined ? {} : { tuning: input.tuning }),
    };
    const child = await port.startChild({
      workflowType: SHARD_WORKFLOW,
      workflowId: `${port.workflowId}/shard-${shard}`,
      summary: `${order.direction} shard ${shard} to ${order.tag}`,
      input: shardInput as unknown as Json,
      indexed: { kind: KIND, ref, phase, operation: `${order.direction}-shard` },
    });
    const hand: Hand = { child, steps: [], end: null };
    this.#hands.set(shard, hand);
    child.result().then(
      // The result is the runner's own, typed where it is built.
      (result) => void (hand.end = { result: result as OperationResult }),
      (error: unknown) => void (hand.end = { error }),
    );
    void this.#supervise(hand);
    return hand;
  }

  /** Hands on what people and newer wishes want of the upgrade, until the shard has ended. */
  async #supervise(hand: Hand): Promise<void> {
    const { port } = this.#run;
    const wanted = (): { readonly stop: string | null; readonly hold: string | null } => {
      const { stopping } = this.#run.progress;
      return { stop: stopping, hold: this.#run.hold };
    };
    let told: ReturnType<typeof wanted> = { stop: null, hold: null };
    const differs = (): boolean => wanted().stop !== told.stop || wanted().hold !== told.hold;
    try {
      while (hand.end === null) {
        await port.until(() => hand.end !== null || differs(), { summary: 'the shard is worked on' });
        if (hand.end !== null) return;
        const now = wanted();
        if (now.stop !== null && told.stop === null)
          await hand.child.stop({ why: 'superseded', reason: now.stop });
        if (now.hold !== told.hold)
          await (now.hold === null ? hand.child.release() : hand.child.hold(now.hold));
        told = now;
      }
    } catch (error) {
      // A cancellation of the whole upgrade reaches the shard by itself.
      if (failureOf(error)?.code !== 'Cancelled') throw error;
    }
  }
}

/** The shard that a step belongs to; -1 for one of the whole cluster. */
export function shardOf(step: ValkeyStep): number {
  if ('shard' in step) return step.shard ?? -1;
  return 'shards' in step ? (step.shards[0] ?? -1) : -1;
}
