import { explore, type Exploration } from '../../model/datamesh/explore.ts';
import { freshMeasures, measureFtt, measureState } from '../../model/datamesh/measures.ts';
import { Machine } from '../../model/datamesh/machine.ts';
import { scenarioOfJob } from '../../model/datamesh/run-job.ts';
import type { Job } from '../../model/datamesh/space.ts';
import { compileScenario } from '../../model/datamesh/tables.ts';
import { planDatamesh } from '../../../workflows/datamesh/domain/plan.ts';
import type { Member, Observed } from '../../../workflows/datamesh/domain/observed.ts';
import type { Bench } from '../bench.ts';
import { median, round } from '../figures.ts';

const JOB: Job = {
  kind: 'partitions',
  kernel: 'vanilla',
  counts: { D: 4, TB: 1, A: 0, sD: 0 },
  qmr: 2,
  excess: 0,
  intents: [{ op: 'RemoveMember', member: 'd4' }],
  primary: null,
};

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const spent = (work: () => void): number => {
  const before = cpuMs();
  work();
  return cpuMs() - before;
};

/** Where the judged states are; the others only stand for one of them. */
function judgedStates(found: Exploration): Int32Array {
  const machine = new Machine(found.tables);
  const all = Array.from({ length: found.store.size }, (_, index) => index);
  return Int32Array.from(
    all.filter((index) => {
      found.store.load(index, machine);
      const { sticky, synced } = machine;
      machine.derive();
      return machine.sticky === sticky && machine.synced === synced;
    }),
  );
}

/** Evaluates every invariant on states that are there already: what no exploration can be faster than. */
function evaluate(found: Exploration, states: Int32Array): void {
  const machine = new Machine(found.tables);
  const measures = freshMeasures();
  for (const index of states) {
    found.store.load(index, machine);
    machine.derive();
    measureState(machine, index, measures);
    measureFtt(machine, index, measures);
  }
}

const clients = (count: number): readonly Member[] =>
  Array.from({ length: count }, (_, at) => ({
    name: `a${at}`,
    type: 'A',
    node: `n${at}`,
    zone: '',
    upToDate: false,
    attached: false,
  }));

/** A volume with 32 members that is to grow from 4D to 5D. */
const LARGE: Observed = {
  resource: 'default/large',
  kernel: 'vanilla',
  q: 3,
  qmr: 3,
  configuration: { ftt: 2, gmdr: 2, topology: 'Ignored', volumeAccess: 'Any', mode: 'managed' },
  members: [
    ...[1, 2, 3, 4].map((n): Member => ({
      name: `d${n}`,
      type: 'D',
      node: `d${n}`,
      zone: '',
      upToDate: true,
      attached: false,
    })),
    ...clients(28),
  ],
  replicas: null,
  active: [],
};

/** Exploring a scenario of the datamesh model, over evaluating the invariants on its states ready-made; CPU time of one core. */
export const datameshModel: Bench = {
  name: 'datamesh-model',
  about:
    'Exploring one scenario of the datamesh model (4D+1TB, RemoveMember(D), all partitions, crashes and force-removals), over evaluating the invariants on the same states ready-made. CPU time of one core.',
  goal: 3,
  rounds: 5,
  prepare() {
    const tables = compileScenario(scenarioOfJob(JOB));
    let found = explore(tables);
    const states = judgedStates(found);
    return Promise.resolve({
      ours: () => Promise.resolve(spent(() => void (found = explore(tables)))),
      floor: () => Promise.resolve(spent(() => evaluate(found, states))),
      beside: (pairs) =>
        Promise.resolve([
          ['states', String(found.states)],
          ['transitions', String(found.transitions)],
          [
            'states per CPU second',
            String(round((found.states / median(pairs.map((pair) => pair.ours))) * 1000, 0)),
          ],
          ['a plan for 32 members, ms', String(round(planMs(), 2))],
        ] as const),
    });
  },
};

/** The median time of a plan, after a few to warm up. */
function planMs(): number {
  const times = Array.from({ length: 40 }, () => spent(() => void planDatamesh(LARGE, null)));
  return median(times.slice(20));
}
