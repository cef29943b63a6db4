import { KubeConfig } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { KubernetesApi } from '../../../starter/kubernetes-api.ts';
import { createMetrics } from '../../../starter/metrics.ts';
import type { Sighting } from '../../../starter/sighting.ts';
import { Trigger } from '../../../starter/trigger.ts';
import { FINALIZER } from '../../../starter/watch-definition.ts';
import type { LifecycleWatch } from '../../../starter/watch-definition.ts';

const watch: LifecycleWatch = {
  lifecycle: 'lamp',
  workflowType: 'lamp',
  primary: { group: 'g', version: 'v1', plural: 'lamps', kind: 'Lamp' },
  secondaries: [],
};
const source = { watch, type: watch.primary, role: 'primary' } as const;

const lamp: Sighting = {
  kind: 'Lamp',
  namespace: 'a',
  name: 'hall',
  uid: 'u1',
  generation: 1,
  deleting: false,
  finalizers: [FINALIZER],
  digest: '',
  operating: false,
  reported: [],
  owner: { namespace: 'a', name: 'hall' },
  problem: null,
};

/** A trigger on an engine that only notes what it is told. */
function createTrigger(role: { elected: boolean; leading: boolean }) {
  const told: string[] = [];
  const engine = {
    withDeadline: (_: number, call: () => Promise<unknown>) => call(),
    workflow: {
      signalWithStart: async (_: string, options: { workflowId: string }) => {
        told.push(options.workflowId);
        return { signaledRunId: 'a-run' };
      },
    },
  };
  const trigger = new Trigger({
    api: new KubernetesApi(new KubeConfig()),
    client: engine as unknown as Client,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    elected: () => role.elected,
    leading: () => role.leading,
    existence: () => 'there',
  });
  return { trigger, told };
}

describe('a change that comes', () => {
  it('while the lease is in doubt waits, and is told when the lease is sure again', async () => {
    const role = { elected: true, leading: false };
    const { trigger, told } = createTrigger(role);
    trigger.changed(source, { is: 'seen', now: lamp, before: null, resync: false });
    expect([told, trigger.pending]).toEqual([[], 1]);
    role.leading = true;
    await expect.poll(() => told, { timeout: 10_000 }).toEqual(['lamp/a/hall']);
    await trigger.stop();
    expect(trigger.pending).toBe(0);
  });

  it('while another replica leads is left to that one', async () => {
    const { trigger, told } = createTrigger({ elected: false, leading: false });
    trigger.changed(source, { is: 'seen', now: lamp, before: null, resync: false });
    expect([told, trigger.pending]).toEqual([[], 0]);
    await trigger.stop();
  });
});
