import type { Part } from '../part.ts';
import { checkHttp } from '../readiness.ts';
import { controlPlane, KUBERNETES_VERSION } from './control-plane.ts';
import { certificateFile, serviceAccountKeyFile } from './kube-apiserver.ts';

/** The controllers of Kubernetes: StatefulSets, garbage collection, node health and the rest. */
export const kubeControllerManager: Part = {
  name: 'kube-controller-manager',
  summary: 'the controllers of Kubernetes',
  version: KUBERNETES_VERSION,
  starts: 'always',
  dependsOn: ['kube-apiserver'],
  artifacts: [controlPlane],
  ports: { health: 16257 },
  graceMs: 10_000,
  addresses: () => ({}),
  command: (context) => ({
    program: context.file(controlPlane, 'control-plane'),
    args: [
      'kube-controller-manager',
      `--kubeconfig=${context.kubeconfig('kube-controller-manager')}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${context.port('health')}`,
      // Pods have loopback addresses, which no Endpoints may hold: these controllers could only fail, with an Event each.
      '--controllers=*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller',
      '--use-service-account-credentials=true',
      `--service-account-private-key-file=${serviceAccountKeyFile(context)}`,
      `--root-ca-file=${certificateFile(context)}`,
      '--kube-api-qps=200',
      '--kube-api-burst=400',
      // A node that is lost is noticed within seconds, and its pods are evicted at once: nodes send a heartbeat every 2 s.
      '--node-monitor-period=1s',
      '--node-monitor-grace-period=8s',
      '--node-startup-grace-period=8s',
      '--node-eviction-rate=10',
      '--secondary-node-eviction-rate=10',
    ],
  }),
  checkReady: (context) => checkHttp(`https://127.0.0.1:${context.port('health')}/healthz`),
};
