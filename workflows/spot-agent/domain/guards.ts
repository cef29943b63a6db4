import { allowed, blocked, type Guard } from '../../shared/guards.ts';
import type { SpotCommand } from './commands.ts';
import { primaryOf, type SpotObservation } from './observation.ts';
import { refuseHeir } from './readiness.ts';
import { stateOf } from './states.ts';

type SpotGuard = Guard<SpotObservation, SpotCommand>;

/** A promotion is compared with the epoch that it was planned on; the database compares it again. */
const epochUnchanged: SpotGuard = {
  name: 'EpochUnchanged',
  judge({ agent }, _, step) {
    if (step?.kind !== 'Promote' || step.epoch === agent.epoch) return allowed;
    return blocked(`version conflict: the epoch is ${agent.epoch}, and the plan was made at ${step.epoch}`);
  },
};

/** Health is checked before a promotion, unless the PRIMARY is going anyway. */
const heirHealthy: SpotGuard = {
  name: 'HeirHealthy',
  judge({ replicas, nowMs }, _, step) {
    if (step?.kind !== 'Promote' || step.emergency) return allowed;
    const heir = replicas.find((one) => one.instanceId === step.instance);
    const refusal = heir === undefined ? `${step.instance} is no replica` : refuseHeir(heir, nowMs);
    return refusal === null ? allowed : blocked(refusal);
  },
};

/** Nothing that serves, or that may be asked to serve, is ever terminated. */
const retiredOnly: SpotGuard = {
  name: 'RetiredOnly',
  judge(observed, plan, step) {
    if (step?.kind !== 'TerminateInstance') return allowed;
    if (primaryOf(observed)?.id === step.instance) return blocked(`${step.instance} is PRIMARY`);
    const row = observed.instances.find((one) => one.id === step.instance);
    const leaving = plan.steps.some((one) => one.kind === 'CloseReplica' && one.instance === step.instance);
    if (row === undefined || leaving || stateOf(row.status) !== 'REPLICA') return allowed;
    return blocked(`${step.instance} is a replica that nothing has retired`);
  },
};

/** What is asked before a plan, and again, on fresh rows, before each step that cannot be undone. */
export const GUARDS: readonly SpotGuard[] = [epochUnchanged, heirHealthy, retiredOnly];
