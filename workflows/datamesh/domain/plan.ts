import { activeTransitions, continueActive, type ActiveRun } from './active.ts';
import type { Composition } from './composition.ts';
import { planFormation } from './formation.ts';
import { layoutOf, layoutWay, LAYOUTS, type Layout } from './layouts.ts';
import { deriveHome, deriveManaged, deriveManual } from './managed-mode.ts';
import { meshOf, countOf, votersOf, type Mesh } from './mesh.ts';
import type { Intent, Observed } from './observed.ts';
import { admit, type Running } from './parallelism.ts';
import { RefusedInput } from './refusal.ts';
import { planTransition, type PlannedTransition } from './transitions.ts';
import { refuseIntent, refuseObserved } from './validation.ts';

/** The version of the planner's decisions; a change of what is planned raises it. */
export const PLAN_VERSION = 1;

/** A refusal, as it stands in the envelope. */
export interface BlockedTransition {
  readonly intent: string;
  readonly member: string | null;
  readonly guard: string;
  readonly message: string;
  readonly wayOut: string;
}

/** A transition with the group in which it runs and what stands against it. */
export interface Placed extends PlannedTransition {
  readonly group: number;
  readonly blocked: readonly BlockedTransition[];
}

/** The whole plan, before it is rendered. */
export interface DatameshPlan {
  readonly observed: Observed;
  readonly transitions: readonly Placed[];
  readonly unknown: readonly { readonly guard: string; readonly needs: string }[];
  readonly mesh: Mesh;
}

const MAX_TRANSITIONS = 96;

/** Plans explicit intents alone, or what the configuration and the replicas ask for. */
export function planDatamesh(observed: Observed, intents: readonly Intent[] | null): DatameshPlan {
  const refused = refuseObserved(observed, intents);
  if (refused.length > 0) throw new RefusedInput(refused.join('; '));
  const draft = new Draft(observed);
  if (intents !== null) {
    for (const intent of intents) draft.take(intent);
  } else if (observed.members.length === 0) {
    draft.form();
  } else {
    draft.derive();
  }
  return draft.done();
}

/** A plan in the making: transitions so far, and the mesh that they leave. */
class Draft {
  private readonly observed: Observed;
  private readonly transitions: Placed[] = [];
  private readonly stuck = new Set<string>();
  private readonly active: readonly ActiveRun[];
  private mesh: Mesh;
  private groupStart: Mesh;
  private group = 0;

  constructor(observed: Observed) {
    this.observed = observed;
    this.mesh = meshOf(observed);
    this.groupStart = this.mesh;
    this.active = activeTransitions(observed);
  }

  /** Explicit: guards and rules apply, nothing else is derived; a blocked transition is listed and has no effect. */
  take(intent: Intent): void {
    const refusal = refuseIntent(this.mesh.members, intent);
    if (refusal !== null) throw new RefusedInput(refusal);
    this.place(planTransition(this.mesh, intent, this.running()), this.running());
  }

  form(): void {
    const layout = layoutOf(this.observed.configuration.ftt, this.observed.configuration.gmdr);
    const replicas = (this.observed.replicas ?? []).filter((replica) => !replica.deleting);
    if (!replicas.some((replica) => replica.wants === 'D')) return;
    this.place(planFormation(this.mesh, replicas, layout), []);
  }

  /** First what runs already, then members that are stranded, then each layout on the way. */
  derive(): void {
    for (const run of this.active) {
      const rest = continueActive(this.mesh, run);
      if (rest !== null) this.place(rest, []);
    }
    const { mode } = this.observed.configuration;
    if (mode === 'manual') {
      this.settle(null);
      return;
    }
    const way = this.way();
    for (const layout of way) this.settle(layout);
  }

  private way(): readonly Layout[] {
    const { ftt, gmdr } = this.observed.configuration;
    const target = layoutOf(ftt, gmdr);
    const { members, qmr } = this.mesh;
    const current = LAYOUTS.find(
      (layout) =>
        layout.diskful === votersOf(members) &&
        layout.tiebreakers === countOf(members, 'TB') &&
        layout.qmr === qmr,
    );
    return current === undefined || current.name === target.name
      ? [target]
      : layoutWay(current, target).slice(1);
  }

  /** Takes the best intent that is not blocked, again and again, until nothing is wanted. */
  private settle(layout: Layout | null): void {
    const { ftt, gmdr } = layout ?? this.observed.configuration;
    this.mesh = { ...this.mesh, configuration: { ...this.observed.configuration, ftt, gmdr } };
    while (this.transitions.length < MAX_TRANSITIONS) {
      const at: Composition = {
        mesh: this.mesh,
        layout: layout ?? layoutOf(ftt, gmdr),
        replicas: this.observed.replicas,
      };
      const wanted = [...deriveHome(at), ...(layout === null ? deriveManual(at) : deriveManaged(at))];
      const next = wanted.find((intent) => !this.stuck.has(keyOf(intent)));
      if (next === undefined) return;
      const planned = planTransition(this.mesh, next, this.running());
      if (this.place(planned, this.running())) this.stuck.clear();
      else this.stuck.add(keyOf(next));
    }
  }

  /** What was running when the observation was made and is not part of this plan by now. */
  private running(): readonly Running[] {
    const planned = new Set(this.transitions.map((one) => one.member));
    return this.active.map((run) => run.running).filter((run) => !planned.has(run.member));
  }

  /** Lists a transition; answers whether it takes effect. */
  private place(planned: PlannedTransition, running: readonly Running[]): boolean {
    const admission = admit(planned, running);
    const blocked: BlockedTransition[] = planned.findings.flatMap(({ guard, answer }) =>
      'message' in answer
        ? [
            {
              intent: planned.op,
              member: planned.member,
              guard: guard.name,
              message: answer.message,
              wayOut: guard.wayOut,
            },
          ]
        : [],
    );
    if (!admission.admitted)
      blocked.push({
        intent: planned.op,
        member: planned.member,
        guard: 'Parallelism',
        message: `${admission.rule}: ${admission.active.op}${admission.active.member === null ? '' : ` of ${admission.active.member}`} is in progress`,
        wayOut: 'Wait until it has ended, or cancel it at its next safe point.',
      });
    if (blocked.length === 0) this.openGroup(planned);
    this.transitions.push({ ...planned, group: Math.max(this.group, 1), blocked });
    if (blocked.length > 0) return false;
    this.mesh = planned.mesh;
    return true;
  }

  /** A transition joins the open group when the rules let it overlap and its guards held at the group's start. */
  private openGroup(planned: PlannedTransition): void {
    const peers = this.transitions.filter((one) => one.group === this.group && one.blocked.length === 0);
    const joins =
      peers.length > 0 &&
      planned.parallelism === 'NonVoter' &&
      admit(planned, peers).admitted &&
      peers.every((peer) => peer.parallelism === 'NonVoter' || peer.parallelism === 'Voter') &&
      (planned.from === '✦' || this.groupStart.members.some((member) => member.name === planned.member));
    if (joins) return;
    this.group += 1;
    this.groupStart = this.mesh;
  }

  done(): DatameshPlan {
    const unknown = this.transitions.flatMap((one) =>
      one.findings.flatMap(({ guard, answer }) =>
        'needs' in answer ? [{ guard: guard.name, needs: answer.needs }] : [],
      ),
    );
    return { observed: this.observed, transitions: this.transitions, unknown, mesh: this.mesh };
  }
}

const keyOf = (intent: Intent): string => JSON.stringify(intent);
