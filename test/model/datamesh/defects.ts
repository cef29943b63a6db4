import { quorumOf } from '../../../workflows/datamesh/domain/layouts.ts';
import { votersOf, withMember, type Mesh } from '../../../workflows/datamesh/domain/mesh.ts';
import type { NodeCommand } from '../../../workflows/datamesh/domain/node-commands.ts';
import { buildStep, type PlannedStep } from '../../../workflows/datamesh/domain/steps.ts';
import { expandForceRemove, planTransition } from '../../../workflows/datamesh/domain/transitions.ts';
import type { Intent, Member } from '../../../workflows/datamesh/domain/observed.ts';
import { explore, type Exploration, type ExploreOptions } from './explore.ts';
import { kernelModel } from './kernel-models.ts';
import { Machine } from './machine.ts';
import type { Network, Scenario, Track } from './scenario.ts';
import { meshAfter, meshOfCounts, scenarioOf } from './scenes.ts';
import { compileScenario } from './tables.ts';

export const PARTITIONS: Network = { cuts: 'partitions', unnoticed: false, crash: true };

/** A mesh by its counts, on the kernel of that name. */
export const meshOn = (
  kernel: string,
  counts: Partial<Record<'D' | 'TB' | 'A' | 'sD', number>>,
  qmr: number,
): Mesh => meshOfCounts(kernelModel(kernel), { D: 0, TB: 0, A: 0, sD: 0, ...counts }, qmr);

/** Explores tracks from a mesh. */
export function exploreTracks(
  kernel: string,
  mesh: Mesh,
  tracks: readonly [Track] | readonly [Track, Track],
  change: Partial<Scenario> = {},
  options: ExploreOptions = {},
): Exploration {
  const scenario = { ...scenarioOf(kernelModel(kernel), mesh, tracks, PARTITIONS), ...change };
  return explore(compileScenario(scenario), options);
}

/** Whether some reached state is like this. */
export function findState(found: Exploration, is: (machine: Machine) => boolean): number {
  const machine = new Machine(found.tables);
  for (let index = 0; index < found.store.size; index += 1) {
    found.store.load(index, machine);
    machine.derive();
    if (is(machine)) return index;
  }
  return -1;
}

/** Runs the quorum command first, or last, on every node, whatever the direction. */
export const reordered = (steps: readonly PlannedStep[], first: boolean): readonly PlannedStep[] =>
  steps.map((step) => ({
    ...step,
    actions: Object.fromEntries(
      Object.entries(step.actions).map(([name, commands]) => {
        const quorum = commands.filter((command) => command.do === 'quorum');
        const rest = commands.filter((command) => command.do !== 'quorum');
        return [name, first ? [...quorum, ...rest] : [...rest, ...quorum]];
      }),
    ),
  }));

/** The specification's arrows without the waves that keep ties out of the way. */
export function withoutWaves(start: Mesh, subject: Member, intent: Intent): readonly PlannedStep[] {
  const steps = planTransition(start, intent).steps.filter((step) => step.from !== step.to);
  let mesh = start;
  return steps.map((step) => {
    const moved = step.to === null ? mesh : withMember(mesh, subject, step.to);
    const after = { ...moved, q: quorumOf(votersOf(moved.members)) };
    const built = buildStep(mesh, {}, after, {}, { ...step, subject: subject.name });
    mesh = after;
    return built;
  });
}

/** Defect 3: q is counted down by one from what it happens to be when a ForceRemove has come between. */
export function blindQuorum(start: Mesh, intent: Intent, forcedAfter: number): Track {
  const planned = planTransition(start, intent);
  return {
    label: 'blind q−1',
    member: planned.member,
    steps: planned.steps,
    afterForceRemove: (done, lost) => {
      const gone = start.members.find((one) => one.name === lost);
      if (done !== forcedAfter || gone === undefined || lost === planned.member) return null;
      const force = expandForceRemove(meshAfter(start, planned, done), gone);
      const blind = force.mesh.q - 1;
      const lower = (command: NodeCommand): NodeCommand =>
        command.do === 'quorum' && command.q !== 32 ? { ...command, q: blind } : command;
      const rest = planned.steps.slice(done).map((step) => ({
        ...step,
        confirm: step.confirm.filter((name) => name !== lost),
        actions: Object.fromEntries(
          Object.entries(step.actions)
            .filter(([name]) => name !== lost)
            .map(([name, commands]) => [
              name,
              commands.filter((command) => !('peer' in command) || command.peer !== lost).map(lower),
            ]),
        ),
      }));
      return {
        label: `ForceRemove(${lost}), then q−1`,
        member: planned.member,
        steps: [...force.steps, ...rest],
      };
    },
  };
}
