/** A StatefulSet of plain Valkey servers, each with a volume. */
export function valkeyStatefulSet(name: string, replicas: number, image = 'valkey/valkey:9.1.2'): unknown {
  const serve = 'exec valkey-server --bind "$POD_IP" --dir /data --appendonly yes --protected-mode no';
  const server = {
    name: 'valkey',
    image,
    command: ['sh', '-c', serve],
    env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
    ports: [{ containerPort: 6379 }],
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
    readinessProbe: { tcpSocket: { port: 6379 }, periodSeconds: 1 },
  };
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '100Mi' } } };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: {
      serviceName: name,
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { terminationGracePeriodSeconds: 10, containers: [server] },
      },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
    },
  };
}
