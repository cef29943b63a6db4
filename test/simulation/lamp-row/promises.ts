import { entityId, type OperationResult, type ResourceRef } from '../../../workflows/shared/messages.ts';
import type { PlanEnvelope } from '../../../workflows/shared/plan.ts';
import type { Engine } from '../engine/engine.ts';
import type { Command } from '../engine/history.ts';
import type { Run } from '../engine/run.ts';
import { LIFECYCLE } from './contract.ts';
import type { LampCommand } from './domain/row.ts';
import type { LampWorld } from './world.ts';

const MOST_ACTIVITIES = 6_000;
const MOST_OPERATIONS = 60;

/** Watches a performance for anything that the core promises never to do. */
export class Promises {
  readonly #world: LampWorld;
  readonly #ref: ResourceRef;
  readonly #entity: string;
  readonly #lookedAtMs = new Map<string, number>();
  readonly #approved = new Set<string>();
  #engine: Engine | null = null;
  #readerSinceMs: number | null = null;
  #activities = 0;
  #operations = 0;
  /** When whatever was declined may be taken up again. */
  #pardonedAtMs = -1;
  readonly #declined = new Map<string, number>();
  readonly #reports = new Map<string, number[]>();

  constructor(world: LampWorld, ref: ResourceRef) {
    this.#world = world;
    this.#ref = ref;
    this.#entity = entityId(LIFECYCLE, ref);
  }

  watch(engine: Engine): void {
    this.#engine = engine;
  }

  readerComes(there: boolean): void {
    this.#readerSinceMs = there ? (this.#readerSinceMs ?? this.#nowMs) : null;
  }

  approves(plan: PlanEnvelope<LampCommand>): void {
    for (const step of plan.steps) if (step.kind === 'Discard') this.#approved.add(`${step.socket}`);
  }

  pardons(): void {
    this.#pardonedAtMs = this.#nowMs;
  }

  /** Judges one thing that is about to be done. */
  judge(run: Run, command: Command): void {
    if (command.type === 'activity') this.#judgeActivity(run, command.name, command.args[0]);
    if (command.type === 'activity' && command.name === 'reportLampRow')
      this.#reports.set(run.workflowId, [...(this.#reports.get(run.workflowId) ?? []), command.seq]);
    if (run.workflowId !== this.#entity && isLast(command)) this.#judgeEnd(run);
    if (command.type === 'child') this.#judgeOperation(run, command.start.workflowId);
    if (command.type === 'complete') this.#remember(run, command.result as OperationResult);
    if (command.type === 'fail') this.#judgeFailure(run, command.error);
    if (run.workflowId === this.#entity && isLast(command)) this.pardons();
    if (run.workflowId === this.#entity && command.type === 'complete' && this.#world.row(this.#ref) !== null)
      this.#violation('the entity leaves a row alone of which it was told');
  }

  /** A status that is still being written when its operation ends would be written over the entity's. */
  #judgeEnd(run: Run): void {
    if ((this.#reports.get(run.workflowId) ?? []).some((seq) => run.activities.has(seq)))
      this.#violation(`${run.workflowId} ends while it writes a status`);
  }

  #judgeActivity(run: Run, name: string, target: unknown): void {
    this.#activities += 1;
    if (this.#activities === MOST_ACTIVITIES) this.#violation('it goes round in circles');
    if (name === 'observeLampRow') this.#lookedAtMs.set(run.workflowId, this.#nowMs);
    if (name === 'reportLampRow' && run.workflowId === this.#entity) {
      if ([...run.children.values()].some((child) => !child.closed))
        this.#violation('the entity writes the status while its operation runs');
      const { status } = target as { readonly status: { readonly reason: string } };
      if (status.reason === 'Settled') this.pardons();
    }
    if (name === 'discardLamp') this.#judgeDiscard(run, (target as { readonly socket: number }).socket);
  }

  #judgeDiscard(run: Run, socket: number): void {
    const row = this.#world.row(this.#ref);
    const lookedAtMs = this.#lookedAtMs.get(run.workflowId) ?? -1;
    if (run.workflowId.includes('/dim/')) {
      // Each look is good for one step only.
      this.#lookedAtMs.delete(run.workflowId);
      if (lookedAtMs < 0) this.#violation(`${run.workflowId} discards ${socket} without another look`);
      if (this.#readerSinceMs !== null && lookedAtMs > this.#readerSinceMs)
        this.#violation(`${run.workflowId} takes a lamp away from a reader`);
    }
    const generation = Number(/-(\d+)\.\d+$/.exec(run.workflowId)?.[1]);
    if (row?.approvals === true && row.generation === generation && !this.#approved.has(`${socket}`))
      this.#violation(`${run.workflowId} discards ${socket}, which nobody approved`);
  }

  #judgeOperation(run: Run, workflowId: string): void {
    this.#operations += 1;
    if (this.#operations === MOST_OPERATIONS) this.#violation('it starts one operation after the other');
    if ([...run.children.values()].some((child) => !child.closed))
      this.#violation(`${workflowId} starts beside another operation`);
    const declinedAtMs = this.#declined.get(wishOf(workflowId));
    if (declinedAtMs !== undefined && declinedAtMs > this.#pardonedAtMs)
      this.#violation(`${workflowId} takes up a wish that was cancelled`);
  }

  #remember(run: Run, result: OperationResult | undefined): void {
    if (result?.outcome === 'cancelled') this.#declined.set(wishOf(run.workflowId), this.#nowMs);
  }

  #judgeFailure(run: Run, error: Error): void {
    const type = 'type' in error ? String(error.type) : error.name;
    if (type === 'PhaseRefused' || type === 'Defect' || run.workflowId === this.#entity)
      this.#violation(`${run.workflowId} fails with ${type}: ${error.message}`);
  }

  get #nowMs(): number {
    return this.#engine?.agenda.nowMs ?? 0;
  }

  #violation(text: string): void {
    this.#engine?.journal.violation(text);
  }
}

const wishOf = (workflowId: string): string => workflowId.replace(/\.\d+$/, '');
const isLast = (command: Command): boolean =>
  command.type === 'complete' || command.type === 'cancelled' || command.type === 'fail';
