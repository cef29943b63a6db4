import type { Part } from '../part.ts';
import { checkHttp } from '../readiness.ts';
import { controlPlane, KUBERNETES_VERSION } from './control-plane.ts';

/** Decides which node a pod runs on. */
export const kubeScheduler: Part = {
  name: 'kube-scheduler',
  summary: 'decides which node a pod runs on',
  version: KUBERNETES_VERSION,
  starts: 'always',
  dependsOn: ['kube-apiserver'],
  artifacts: [controlPlane],
  ports: { health: 16259 },
  graceMs: 10_000,
  addresses: () => ({}),
  command: (context) => ({
    program: context.file(controlPlane, 'control-plane'),
    args: [
      'kube-scheduler',
      `--kubeconfig=${context.kubeconfig('kube-scheduler')}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${context.port('health')}`,
      '--kube-api-qps=200',
      '--kube-api-burst=400',
    ],
  }),
  checkReady: (context) => checkHttp(`https://127.0.0.1:${context.port('health')}/healthz`),
};
