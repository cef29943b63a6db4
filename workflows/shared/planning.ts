import { failure, failureOf } from './failures.ts';
import { guardsKnowing, judgePlan } from './guards.ts';
import type { Lifecycle, LifecycleTypes, Remembered } from './lifecycle.ts';
import type { ResourceRef } from './messages.ts';
import { envelope, type PlanEnvelope } from './plan.ts';
import type { Port } from './port.ts';

/** The plan that an entity would follow now, or for another spec, without a single write. */
export async function runPlan<T extends LifecycleTypes>(
  port: Port<T['activities']>,
  lifecycle: Lifecycle<T>,
  input: { readonly ref: ResourceRef },
  wish: (observed: T['observed']) => T['observed'],
): Promise<PlanEnvelope<T['command']>> {
  const ref = refuseWrongRef(input);
  const observed = await lifecycle.observe(port, ref);
  if (observed === null)
    throw failure('ResourceGone', `there is no ${lifecycle.kind} ${ref.namespace}/${ref.name}`);
  const { carriedOut } = lifecycle.served(observed);
  try {
    return planned(lifecycle, ref, wish(observed), { carriedOut, knows: port.knows });
  } catch (error) {
    if (failureOf(error) !== null) throw error;
    // Nothing is at stake in a dry run: it fails, in words, where an entity would wait for a corrected worker.
    const why = error instanceof Error ? error.message : String(error);
    throw failure('InvalidInput', `no plan can be made of this: ${why}`);
  }
}

/** Plans and asks the guards; the same for a turn, a dry run and a query. */
export function planned<T extends LifecycleTypes>(
  lifecycle: Lifecycle<T>,
  ref: ResourceRef,
  observed: T['observed'],
  remembered: Remembered,
): PlanEnvelope<T['command']> {
  const plan = lifecycle.plan(observed, remembered);
  return envelope(
    lifecycle.name,
    `${ref.namespace}/${ref.name}`,
    plan,
    judgePlan(guardsKnowing(lifecycle.guards, remembered.knows), observed, plan),
  );
}

/** Refuses, in words, an input that names no resource. */
export function refuseWrongRef(input: { readonly ref: ResourceRef }): ResourceRef {
  // A person may have typed anything.
  const { namespace, name } =
    (input as { readonly ref?: Partial<ResourceRef> } | null | undefined)?.ref ?? {};
  if (typeof namespace !== 'string' || typeof name !== 'string' || namespace === '' || name === '') {
    throw failure('InvalidInput', 'the input must be {"ref": {"namespace": "…", "name": "…"}}');
  }
  return input.ref;
}
