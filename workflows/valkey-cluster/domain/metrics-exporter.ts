import type { Json } from '../../shared/plan.ts';
import { CLIENT_PORT } from './names.ts';
import type { ValkeyClusterSpec } from './observation.ts';

/** The sidecar that tells Prometheus what its server counts. */
export function buildExporter(spec: ValkeyClusterSpec): { readonly [key: string]: Json } {
  const { image, port, resources, extraEnv } = spec.metricsExporter;
  const scheme = spec.tls === undefined ? 'redis' : 'rediss';
  return {
    name: 'metrics',
    image,
    env: [
      { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'REDIS_ADDR', value: `${scheme}://$(POD_IP):${CLIENT_PORT}` },
      { name: 'REDIS_EXPORTER_WEB_LISTEN_ADDRESS', value: `$(POD_IP):${port}` },
      ...password(spec),
      ...(spec.tls === undefined ? [] : tls),
      ...Object.entries(extraEnv ?? {}).map(([name, value]) => ({ name, value })),
    ],
    ports: [{ name: 'metrics', containerPort: port }],
    ...(resources === undefined
      ? {}
      : {
          resources: {
            requests: { cpu: resources.cpuRequest, memory: resources.memoryRequest },
            limits: { cpu: resources.cpuLimit, memory: resources.memoryLimit },
          },
        }),
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    ...(spec.tls === undefined ? {} : { volumeMounts: [{ name: 'tls', mountPath: '/tls', readOnly: true }] }),
  };
}

/** The certificate names Services, and the exporter dials the address of its own pod: it can not compare the two. */
const tls: Json[] = [
  { name: 'REDIS_EXPORTER_SKIP_TLS_VERIFICATION', value: 'true' },
  { name: 'REDIS_EXPORTER_TLS_CA_CERT_FILE', value: '/tls/ca.crt' },
  { name: 'REDIS_EXPORTER_TLS_CLIENT_CERT_FILE', value: '/tls/tls.crt' },
  { name: 'REDIS_EXPORTER_TLS_CLIENT_KEY_FILE', value: '/tls/tls.key' },
];

function password(spec: ValkeyClusterSpec): Json[] {
  if (spec.auth === undefined) return [];
  const { secretRef, acl } = spec.auth;
  return [
    { name: 'REDIS_PASSWORD', valueFrom: { secretKeyRef: { name: secretRef.name, key: secretRef.key } } },
    ...(acl?.enabled === true ? [{ name: 'REDIS_USER', value: acl.adminUser }] : []),
  ];
}
