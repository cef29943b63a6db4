import { describe, expect, test } from 'vitest';
import { renderReport, summarise } from './report.ts';
import { runJob, scenarioOfJob } from './run-job.ts';
import { referenceQuorum } from './reference-quorum.ts';
import { explore } from './explore.ts';
import { LOST, Machine } from './machine.ts';
import { jobsWithin, type Bounds, type Job } from './space.ts';
import { compileScenario } from './tables.ts';

const BOUNDS: Bounds = { diskful: 3, others: 1, nodes: 5, smallDiskful: 3, smallOthers: 1 };
const SLICE_STATES = 1_000_000;

/** Every so many-th job, so that all kernels, kinds and sizes are in it. */
const sample = (jobs: readonly Job[], every: number): readonly Job[] =>
  jobs.filter((_, at) => at % every === 0);

describe('a slice of the space', () => {
  test('holds every invariant in a million states', { timeout: 600_000 }, () => {
    const results = [];
    let states = 0;
    for (const job of sample(jobsWithin(BOUNDS), 7)) {
      const result = runJob(job);
      results.push(result);
      states += result.states;
      if (states >= SLICE_STATES) break;
    }
    const summary = summarise(results, { seconds: 1, workers: 1, bounds: BOUNDS });
    expect(summary.unsound.map((one) => `${one.broken.join()}\n${one.story}`)).toEqual([]);
    expect(renderReport(summary)).toContain('Broken invariants: 0.');
    expect(states).toBeGreaterThanOrEqual(SLICE_STATES);
  });

  test(
    'counts quorum by bit masks exactly as the kernel’s source does peer by peer',
    { timeout: 120_000 },
    () => {
      let judged = 0;
      for (const job of sample(jobsWithin({ ...BOUNDS, diskful: 2, smallDiskful: 2 }), 5)) {
        const found = explore(compileScenario(scenarioOfJob(job)), { withoutFtt: true, maxStates: 3000 });
        const machine = new Machine(found.tables);
        for (let index = 0; index < found.store.size; index += 1) {
          found.store.load(index, machine);
          machine.derive();
          for (let node = 0; node < machine.nodes; node += 1) {
            if ((machine.alive & (1 << node)) === 0) continue;
            for (const had of [true, false]) {
              judged += 1;
              const fast = machine.judge(node, had) !== LOST;
              if (fast !== referenceQuorum(machine, node, had))
                throw new Error(`${found.tables.scenario.name}, state ${index}, node ${node}`);
            }
          }
        }
      }
      expect(judged).toBeGreaterThan(50_000);
    },
  );
});
