import type { StackHandle } from '../../../deploy/local/testing.ts';
import type { FaultOperation, FaultSetting } from '../operation.ts';
import { spotFailover } from './spot-failover.ts';
import { spotRebalance } from './spot-rebalance.ts';
import { spotRetire } from './spot-retire.ts';
import { onSpot } from './spot-setting.ts';
import { valkeyCreate } from './valkey-create.ts';
import { valkeyDelete } from './valkey-delete.ts';
import { valkeyHeal } from './valkey-heal.ts';
import { valkeyReplicas } from './valkey-replicas.ts';
import { valkeyScaleDown } from './valkey-scale-down.ts';
import { valkeyScaleUp } from './valkey-scale-up.ts';
import { valkeyBadTarget, valkeyRollback, valkeyUpgrade } from './valkey-upgrade.ts';

/** An operation on a resource of Kubernetes, which the starter of the stack hears of. */
const onKubernetes = <World>(play: (stack: StackHandle) => FaultOperation<World>): FaultSetting => ({
  parts: [
    'etcd',
    'kube-apiserver',
    'kube-controller-manager',
    'kube-scheduler',
    'temporal',
    'nodes',
    'provisioner',
    'starter',
  ],
  mortal: ['starter', 'temporal', 'kube-apiserver', 'etcd'],
  open: (stack) =>
    Promise.resolve({ operation: play(stack), workerEnv: { KUBECONFIG: stack.kubeconfig('worker') } }),
});

/** Every operation that has a campaign, by the name that people type. */
export const OPERATIONS: Readonly<Record<string, FaultSetting>> = {
  'spot-failover': onSpot(spotFailover),
  'spot-rebalance': onSpot(spotRebalance),
  'spot-retire': onSpot(spotRetire),
  'valkey-bad-target': onKubernetes(valkeyBadTarget),
  'valkey-create': onKubernetes(valkeyCreate),
  'valkey-delete': onKubernetes(valkeyDelete),
  'valkey-heal': onKubernetes(valkeyHeal),
  'valkey-replicas': onKubernetes(valkeyReplicas),
  'valkey-rollback': onKubernetes(valkeyRollback),
  'valkey-scale-down': onKubernetes(valkeyScaleDown),
  'valkey-scale-up': onKubernetes(valkeyScaleUp),
  'valkey-upgrade': onKubernetes(valkeyUpgrade),
};
