import { entityId } from '../../../workflows/shared/messages.ts';
import type { EntityStatus } from '../../../workflows/shared/messages.ts';
import type { PlanEnvelope } from '../../../workflows/shared/plan.ts';
import { NO_FAULTS } from '../engine/engine.ts';
import type { Play, Scene, Verdict } from '../campaign/play.ts';
import { simulatedTheatre, type SimulatedTheatre } from '../simulated-theatre.ts';
import { KIND, LIFECYCLE } from './contract.ts';
import type { LampCommand } from './domain/row.ts';
import { composeIncidents, tellIncident, type Deed, type Incident } from './incidents.ts';
import { Promises } from './promises.ts';

const REF = { namespace: 'default', name: 'row' };
const ENTITY = entityId(LIFECYCLE, REF);
const LOOK_EVERY_MS = 5_000;
const PEACE_MS = 2 * 3_600_000;

/** The row of lamps, with everything that may happen to one. */
export const lampRowPlay: Play<Incident> = {
  name: LIFECYCLE,
  compose: (seed, random) => ({
    seed,
    faults: random.pick([
      NO_FAULTS,
      { lostAnswer: 0.1, frozen: 0, slow: 0.05 },
      { lostAnswer: 0.05, frozen: 0.1, slow: 0.2 },
    ]),
    longHistory: random.pick([8, 20, 100_000]),
    incidents: composeIncidents(random),
  }),
  tell: tellIncident,
  async perform(scene) {
    const performance = new Performance(scene);
    try {
      await performance.play();
    } catch (error) {
      performance.theatre.engine.journal.violation(error instanceof Error ? error.message : String(error));
    }
    return performance.verdict;
  },
};

class Performance {
  readonly theatre: SimulatedTheatre;
  readonly #scene: Scene<Incident>;
  readonly #promises: Promises;

  constructor(scene: Scene<Incident>) {
    this.#scene = scene;
    const { seed, faults, longHistory } = scene;
    this.theatre = simulatedTheatre({
      seed,
      faults,
      longHistory,
      watch: (run, command) => this.#promises.judge(run, command),
    });
    this.#promises = new Promises(this.theatre.world, REF);
    this.#promises.watch(this.theatre.engine);
  }

  get verdict(): Verdict {
    const { violations, lines } = this.theatre.engine.journal;
    return { violations, lines };
  }

  async play(): Promise<void> {
    const { engine, world } = this.theatre;
    this.#hint(world.apply(REF, { wanted: 2 }));
    for (const incident of this.#scene.incidents) {
      await engine.until(() => false, Math.max(0, incident.atMs - engine.agenda.nowMs));
      const { atMs: _atMs, ...deed } = incident;
      engine.journal.note(`>> ${tellIncident(incident).trim()}`);
      await this.#happen(deed);
    }
    await this.#makePeace();
  }

  /** From here on nothing goes wrong any more, people say yes, and the trigger service tells everything again. */
  async #makePeace(): Promise<void> {
    const { engine, world } = this.theatre;
    engine.journal.note('>> peace');
    engine.faults = NO_FAULTS;
    world.change((state) => void (state.failing = []));
    const wanted = world.row(REF)?.wanted ?? 1;
    if (world.row(REF) !== null) {
      this.#promises.readerComes(false);
      world.apply(REF, { reader: false });
      if (wanted < 1 || wanted > 8) world.apply(REF, { wanted: 3 });
    }
    const deadlineMs = engine.agenda.nowMs + PEACE_MS;
    while (!this.#isSettled() && engine.agenda.nowMs < deadlineMs) {
      for (const verb of ['resume', 'retry', 'approve'] as const) await this.#ask(verb);
      this.#hint(world.hint(REF));
      await engine.until(() => this.#isSettled(), LOOK_EVERY_MS * 4);
    }
    if (!this.#isSettled()) engine.journal.violation(`it never came to rest: ${this.#tellState()}`);
    for (const run of engine.open)
      if (run.defect !== null) engine.journal.violation(`${run.workflowId} is parked: ${run.defect.message}`);
  }

  #isSettled(): boolean {
    const { engine, world } = this.theatre;
    const row = world.row(REF);
    if (row === null) return engine.open.length === 0;
    const { status, wanted, lamps, generation } = row;
    const alone = engine.open.length === 1 && engine.open[0]?.workflowId === ENTITY;
    return (
      alone &&
      lamps.length === wanted &&
      status?.reason === 'Settled' &&
      status.phase === 'Lit' &&
      status.carriedOut === generation
    );
  }

  #tellState(): string {
    const { engine, world } = this.theatre;
    const row = world.row(REF);
    return JSON.stringify({
      row: row && { ...row, news: row.news.length },
      open: engine.open.map((run) => run.workflowId),
    });
  }

  async #happen(deed: Deed): Promise<void> {
    const { engine, world } = this.theatre;
    const exists = world.row(REF) !== null;
    switch (deed.do) {
      case 'wish': {
        const hint = world.apply(REF, { wanted: deed.wanted });
        if (deed.hinted || !exists) this.#hint(hint);
        break;
      }
      case 'approvals':
        if (exists) this.#hint(world.apply(REF, { approvals: deed.on }));
        break;
      case 'reader':
        if (!exists) break;
        world.apply(REF, { reader: deed.there });
        this.#promises.readerComes(deed.there);
        break;
      case 'break':
        this.#hint(world.breakLamp(REF));
        break;
      case 'delete':
        if (exists) this.#hint(world.delete(REF));
        break;
      case 'replace':
        world.vanish(REF);
        this.#promises.readerComes(false);
        this.#hint(world.apply(REF, { wanted: 3 }));
        break;
      case 'vanish':
        this.#promises.readerComes(false);
        world.vanish(REF);
        break;
      case 'hint':
        this.#hint({
          kind: deed.of === 'another kind' ? 'Chandelier' : KIND,
          uid: deed.of === 'this' ? (world.row(REF)?.uid ?? 'uid-0001') : 'uid-0000',
          generation: Math.min(deed.generation, world.row(REF)?.generation ?? 9),
        });
        break;
      case 'nonsense':
        engine.signal(ENTITY, 'hint', 'nonsense');
        break;
      case 'fail': {
        const { activity, code, times } = deed;
        world.fail(REF, { activity, code, times, message: 'made up' });
        break;
      }
      case 'crash':
        await engine.crash(deed.awayMs);
        break;
      case 'cancel-workflow':
        this.#operations().forEach((id) => engine.cancel(id));
        break;
      case 'terminate-operation':
        this.#operations().forEach((id) => engine.terminate(id));
        break;
      case 'terminate-entity':
        this.#promises.pardons();
        engine.terminate(ENTITY);
        break;
      default:
        await this.#ask(deed.do);
    }
  }

  /** Asks the entity for something; a refusal in words is an answer too. */
  async #ask(verb: 'pause' | 'resume' | 'cancel' | 'retry' | 'approve'): Promise<void> {
    const { engine } = this.theatre;
    const run = engine.find(ENTITY);
    if (run === null || !run.answers || run.defect !== null) return;
    const status = engine.query(ENTITY, 'status') as EntityStatus;
    const plan = engine.query(ENTITY, 'plan') as PlanEnvelope<LampCommand> | null;
    const wanted = verb === 'approve' ? plan !== null : verb === 'resume' ? status.paused !== null : true;
    if (!wanted) return;
    const input = { hash: plan?.hash ?? '', by: 'somebody', reason: 'asked for' };
    try {
      await engine.update(ENTITY, verb === 'cancel' ? 'cancelOperation' : verb, input);
      if (verb === 'retry') this.#promises.pardons();
      if (verb === 'approve' && plan !== null) this.#promises.approves(plan);
    } catch (error) {
      engine.journal.note(`refused: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #operations(): readonly string[] {
    return this.theatre.engine.open.map((run) => run.workflowId).filter((id) => id !== ENTITY);
  }

  #hint(hint: ReturnType<SimulatedTheatre['world']['hint']>): void {
    if (hint === null) return;
    const { engine } = this.theatre;
    engine.signalWithStart('lampRow', ENTITY, { ref: REF }, { name: 'hint', input: hint });
  }
}
