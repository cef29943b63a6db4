import { arch, release } from 'node:os';
import { ApiError, patchType } from '../../kubernetes/api.ts';
import type { KubernetesApi } from '../../kubernetes/api.ts';
import type { NodeSpec } from '../config.ts';
import { formatTime } from '../pod/record.ts';

/** What a node says about itself. */
export interface NodeIdentity extends NodeSpec {
  readonly address: string;
  readonly port: number;
  readonly capacity: Readonly<Record<string, string>>;
}

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const leaseSeconds = 8;
const nodes = '/api/v1/nodes';

/** Writes the Node object and its lease. */
export class Registration {
  private readonly api: KubernetesApi;
  private readonly identity: NodeIdentity;
  private readonly bootId: () => string;
  private readySince: string | undefined;

  constructor(api: KubernetesApi, identity: NodeIdentity, bootId: () => string) {
    this.api = api;
    this.identity = identity;
    this.bootId = bootId;
  }

  /** Makes the Node object or brings it up to date. Safe to repeat; leaves cordons, taints and foreign labels alone. */
  async register(): Promise<void> {
    const { name, zone } = this.identity;
    const labels = {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': goArch(),
      'topology.kubernetes.io/zone': zone,
      'topology.kubernetes.io/region': 'local',
    };
    const found = await this.api.read<{
      status?: { conditions?: { type: string; status: string; lastTransitionTime: string }[] };
    }>(`${nodes}/${name}`);
    const ready = found?.status?.conditions?.find((condition) => condition.type === 'Ready');
    this.readySince = ready?.status === 'True' ? ready.lastTransitionTime : formatTime(Date.now());
    if (found === undefined) {
      await this.api.send('POST', nodes, { metadata: { name, labels }, status: this.buildStatus() });
    } else {
      await this.api.send('PATCH', `${nodes}/${name}`, { metadata: { labels } }, patchType.strategic);
    }
    await this.writeStatus();
  }

  /** Tells that the node is well. */
  async writeStatus(): Promise<void> {
    const body = { status: this.buildStatus() };
    await this.api.send('PATCH', `${nodes}/${this.identity.name}/status`, body, patchType.strategic);
  }

  /** Renews the lease, the heartbeat of the node. */
  async renewLease(): Promise<void> {
    const { name } = this.identity;
    const spec = {
      holderIdentity: name,
      leaseDurationSeconds: leaseSeconds,
      renewTime: new Date().toISOString().replace('Z', '000Z'),
    };
    try {
      await this.api.send('PATCH', `${leases}/${name}`, { spec }, patchType.merge);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      await this.api.send('POST', leases, { metadata: { name, namespace: 'kube-node-lease' }, spec });
    }
  }

  private buildStatus(): unknown {
    const { address, port, capacity } = this.identity;
    const now = formatTime(Date.now());
    const condition = (type: string, status: string, reason: string, message: string): unknown => ({
      type,
      status,
      reason,
      message,
      lastHeartbeatTime: now,
      lastTransitionTime: this.readySince ?? now,
    });
    return {
      capacity,
      allocatable: capacity,
      conditions: [
        condition(
          'MemoryPressure',
          'False',
          'KubeletHasSufficientMemory',
          'kubelet has sufficient memory available',
        ),
        condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
        condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
        condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
      ],
      addresses: [{ type: 'InternalIP', address }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
      nodeInfo: {
        machineID: this.identity.name,
        systemUUID: this.identity.name,
        bootID: this.bootId(),
        kernelVersion: release(),
        osImage: 'Keelson local stack',
        operatingSystem: 'linux',
        architecture: goArch(),
        kubeletVersion: 'v1.36.3',
        kubeProxyVersion: '',
        containerRuntimeVersion: 'keelson://1',
      },
    };
  }
}

function goArch(): string {
  return arch() === 'x64' ? 'amd64' : arch();
}
