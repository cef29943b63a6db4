import { LIFECYCLE } from '../../../workflows/valkey-cluster/contract.ts';
import { countDoubled, countSlots, SLOT_COUNT } from '../../../workflows/valkey-cluster/domain/slots.ts';
import type { Play } from '../campaign/play.ts';
import { NO_FAULTS } from '../engine/engine.ts';
import type { Random } from '../engine/random.ts';
import { HOUR_MS, ID, openStage, sharesOf } from './stage.ts';
import type { ValkeyWorld } from './world.ts';

interface Wish {
  readonly masters: number;
  readonly replicasPerMaster: number;
}

/** Something that people or accidents do to a cluster, and how long nothing else happens after it. */
export type Incident = { readonly quietMs: number } & (
  | ({ readonly do: 'wish' } & Wish)
  | { readonly do: 'kill a pod'; readonly which: number }
  | { readonly do: 'cancel' | 'pause' | 'resume' }
  | { readonly do: 'crash'; readonly awayMs: number }
);

const DEEDS = ['wish', 'wish', 'kill a pod', 'cancel', 'pause', 'resume', 'crash'] as const;
const MOST_PODS = 1_000;
/** Sometimes the creation is over by then, sometimes not. */
const FIRST_MS = 2_000;

/** A Valkey cluster with everything that may happen to one, but its deletion, which comes last. */
export const valkeyClusterPlay: Play<Incident> = {
  name: LIFECYCLE,
  compose: (seed, random) => ({
    seed,
    faults: random.pick([
      NO_FAULTS,
      { lostAnswer: 0.05, frozen: 0.02, slow: 0.05 },
      { lostAnswer: 0.1, frozen: 0.05, slow: 0.2 },
    ]),
    longHistory: random.pick([40, 100_000]),
    incidents: Array.from({ length: random.between(1, 9) }, () => composeIncident(random)),
  }),
  tell: ({ quietMs, ...deed }) => `${JSON.stringify(deed)}, then ${quietMs} ms of quiet`,
  async perform({ seed, faults, longHistory, incidents }) {
    const stage = openStage({ seed, faults, longHistory });
    const { journal } = stage.engine;
    try {
      stage.hint(stage.world.apply());
      await stage.engine.until(() => false, FIRST_MS);
      for (const incident of incidents) await happen(stage, incident);
      await makePeace(stage);
    } catch (error) {
      journal.violation(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
    }
    return { violations: journal.violations, lines: journal.lines };
  },
};

type Stage = ReturnType<typeof openStage>;

function composeIncident(random: Random): Incident {
  const quietMs = random.between(20, 4_000);
  const deed = random.pick(DEEDS);
  if (deed === 'wish') {
    const wish = { masters: random.between(3, 7), replicasPerMaster: random.between(0, 2) };
    return { do: deed, ...wish, quietMs: random.between(20, 8_000) };
  }
  if (deed === 'kill a pod') return { do: deed, which: random.between(0, MOST_PODS), quietMs };
  if (deed === 'crash') return { do: deed, awayMs: random.between(100, 2_000), quietMs };
  return { do: deed, quietMs };
}

async function happen({ world, engine, hint }: Stage, incident: Incident): Promise<void> {
  engine.journal.note(`>> ${valkeyClusterPlay.tell(incident)}`);
  switch (incident.do) {
    case 'wish': {
      const { masters, replicasPerMaster } = incident;
      hint(world.apply({ masters, replicasPerMaster }));
      break;
    }
    case 'kill a pod': {
      const pod = world.pods[incident.which % Math.max(world.pods.length, 1)];
      if (pod === undefined) break;
      world.remove('Pod', pod.name, pod.uid, engine.agenda.nowMs);
      hint(world.hint());
      break;
    }
    case 'crash':
      await engine.crash(incident.awayMs);
      break;
    default:
      await ask(engine, incident.do);
  }
  await engine.until(() => false, incident.quietMs);
  judge(world, engine);
}

/** Asks for something; where nothing is under way or paused, the refusal is as good an answer. */
async function ask(engine: Stage['engine'], verb: 'cancel' | 'pause' | 'resume'): Promise<void> {
  if (engine.find(ID)?.answers !== true) return;
  const name = verb === 'cancel' ? 'cancelOperation' : verb;
  await engine.update(ID, name, { reason: 'a whim' }).catch(() => null);
}

/** Once all slots were given, each is served by one server at any time. */
function judge(world: ValkeyWorld, engine: Stage['engine']): void {
  const held = [...world.servers.values()].map((server) => server.slots);
  const doubled = countDoubled(held);
  if (doubled > 0) engine.journal.violation(`${doubled} slots are served twice`);
  const formed = world.resource?.status['observedGeneration'] !== undefined;
  const served = countSlots(held.flat());
  if (formed && served !== SLOT_COUNT) engine.journal.violation(`${served} slots are served`);
}

/** From here on nothing goes wrong any more: the last wish is fulfilled, and after its deletion nothing is left. */
async function makePeace({ world, engine, hint, until }: Stage): Promise<void> {
  engine.journal.note('>> peace');
  engine.faults = NO_FAULTS;
  await ask(engine, 'resume');
  const { masters, replicasPerMaster } = world.present().spec;
  // A wish of its own: the last one may have been cancelled, and is then not taken up again.
  hint(world.apply({ masters, replicasPerMaster }));
  const { generation } = world.present();
  await until(
    `generation ${generation} is carried out`,
    () => world.resource?.status['observedGeneration'] === generation,
  );
  judge(world, engine);
  const lacks = unfulfilled(world);
  if (lacks !== null) engine.journal.violation(lacks);
  hint(world.delete());
  const gone = await engine.until(() => world.resource === null && engine.open.length === 0, HOUR_MS);
  if (!gone) engine.journal.violation(`it is never gone: ${engine.open.map((run) => run.workflowId).join()}`);
  const left = [...world.sets, ...world.pods].map(({ name }) => name);
  if (left.length > 0) engine.journal.violation(`${left.join(', ')} are left`);
}

/** What a cluster that was given time still lacks of its wish. */
function unfulfilled(world: ValkeyWorld): string | null {
  const { masters, replicasPerMaster } = world.present().spec;
  const shares = sharesOf(world);
  if (shares.length !== masters) return `${shares.length} masters instead of ${masters}`;
  if (world.pods.length !== masters * (1 + replicasPerMaster)) return `${world.pods.length} pods`;
  const astray = world.pods.filter((pod) => {
    const { masterId } = world.server(pod.name);
    const master = world.pods.find((other) => world.server(other.name).id === masterId);
    return masterId !== null && master?.shard !== pod.shard;
  });
  return astray.length === 0 ? null : `${astray.map((pod) => pod.name).join(', ')} follow another shard`;
}
