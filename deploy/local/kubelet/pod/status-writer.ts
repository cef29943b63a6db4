import { ApiError, patchType } from '../../kubernetes/api.ts';
import type { Pod, PodCondition, PodStatus } from '../api/objects.ts';
import type { NodeContext } from '../node/context.ts';

const gatherMs = 10;
const retryFirstMs = 100;
const retryLastMs = 2_000;

/** Writes the status of one pod: the newest only, one write at a time, again until it is written. */
export class StatusWriter {
  private readonly context: NodeContext;
  private readonly path: string;
  private readonly uid: string;
  private wanted: PodStatus | undefined;
  private written = '';
  private writtenVersion = 0;
  private working: Promise<void> | undefined;
  private closed = false;

  constructor(context: NodeContext, pod: Pod) {
    this.context = context;
    this.uid = pod.metadata.uid;
    this.path = `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}/status`;
  }

  /** The conditions that were last offered. */
  get conditions(): readonly PodCondition[] | undefined {
    return this.wanted?.conditions;
  }

  /** Takes the status that should be in the API; `observed` is the pod as the API has it. */
  offer(status: PodStatus, observed: Pod): void {
    this.wanted = status;
    const differs = JSON.stringify(status) !== this.written || this.isOverwritten(status, observed);
    if (differs && !this.closed) this.working ??= this.work();
  }

  /** Resolves when the newest status is written, or can never be because the pod is gone. */
  async flush(): Promise<void> {
    await this.working;
  }

  /** Forgets what was written, so that the next offer is written in any case. */
  reset(): void {
    this.written = '';
  }

  /** Ends all writing: the pod is gone. */
  close(): void {
    this.closed = true;
  }

  private async work(): Promise<void> {
    let waitMs = gatherMs;
    while (!this.closed && this.context.isActive()) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      const status = this.wanted;
      if (status === undefined || JSON.stringify(status) === this.written) break;
      waitMs = (await this.write(status)) ? 0 : Math.min(Math.max(waitMs * 2, retryFirstMs), retryLastMs);
    }
    this.working = undefined;
  }

  private async write(status: PodStatus): Promise<boolean> {
    try {
      const body = { metadata: { uid: this.uid }, status: buildPatch(status) };
      const answer = await this.context.api.send<Pod>('PATCH', this.path, body, patchType.strategic);
      this.writtenVersion = Number(answer.metadata.resourceVersion);
    } catch (error) {
      if (error instanceof ApiError && (error.status === 404 || error.status === 409)) this.closed = true;
      else {
        this.context.log(`cannot write the status of ${this.path}`, error);
        return false;
      }
    }
    this.written = JSON.stringify(status);
    return true;
  }

  /** The node controller marks the pods of a lost node as not ready; when the node is back, its word counts again. */
  private isOverwritten(status: PodStatus, observed: Pod): boolean {
    if (Number(observed.metadata.resourceVersion) <= this.writtenVersion) return false;
    const inApi = observed.status?.conditions ?? [];
    const lost = status.conditions?.some(
      (own) => inApi.find((condition) => condition.type === own.type)?.status !== own.status,
    );
    if (lost === true || observed.status?.phase !== status.phase) this.written = '';
    return this.written === '';
  }
}

/** Lists with a merge key keep what a patch does not name, so that what is gone is named as null or replaced. */
export function buildPatch(status: PodStatus): unknown {
  const conditions = status.conditions?.map((condition: PodCondition) => ({
    reason: null,
    message: null,
    ...condition,
  }));
  const podIPs = status.podIPs === undefined ? {} : { podIPs: [...status.podIPs, { $patch: 'replace' }] };
  return { reason: null, message: null, ...status, conditions, ...podIPs };
}
