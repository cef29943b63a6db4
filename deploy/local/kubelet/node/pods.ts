import type { Pod } from '../api/objects.ts';
import { PodRunner } from '../pod/runner.ts';
import type { NodeContext } from './context.ts';
import type { SavedPod } from './disk.ts';

/** The pods of all nodes of this process: brings what the API says to the runner of each pod. */
export class Pods {
  private readonly contexts: ReadonlyMap<string, NodeContext>;
  private readonly saved: Map<string, SavedPod>;
  private readonly runners = new Map<string, { readonly node: string; readonly runner: PodRunner }>();
  private readonly known: ReadonlyMap<string, Pod>;

  constructor(
    contexts: ReadonlyMap<string, NodeContext>,
    saved: readonly SavedPod[],
    known: ReadonlyMap<string, Pod>,
  ) {
    this.contexts = contexts;
    this.saved = new Map(saved.map((each) => [each.record.uid, each]));
    this.known = known;
  }

  /** A pod is new or has changed. */
  changed(pod: Pod): void {
    const context = this.contexts.get(pod.spec.nodeName ?? '');
    if (context === undefined || !context.isActive()) return;
    const { uid } = pod.metadata;
    const existing = this.runners.get(uid);
    if (existing !== undefined) existing.runner.update(pod);
    else this.create(context, pod);
  }

  /** A pod is no longer in the API. */
  removed(pod: Pod): void {
    const entry = this.runners.get(pod.metadata.uid);
    if (entry !== undefined && this.contexts.get(entry.node)?.isActive() === true) {
      entry.runner.update(pod);
      entry.runner.vanish();
    }
  }

  /** The list is complete: pods of an earlier process that are not in it are gone. */
  listed(): void {
    for (const { pod, record } of this.saved.values()) {
      const context = this.contexts.get(record.node);
      if (context?.isActive() !== true) continue;
      this.create(context, pod);
      this.runners.get(record.uid)?.runner.vanish();
    }
  }

  /** Tells each pod of a namespace that a ConfigMap or Secret changed. */
  notice(kind: 'configMaps' | 'secrets', namespace: string, name: string): void {
    for (const { runner } of this.runners.values()) {
      if (runner.record.namespace === namespace) runner.notice(kind, name);
    }
  }

  /** Each pod of all nodes, or of one. */
  *each(node?: string): Iterable<PodRunner> {
    for (const entry of this.runners.values())
      if (node === undefined || entry.node === node) yield entry.runner;
  }

  /** A node is back: all that happened meanwhile is made up for. */
  catchUp(node: string, poweredOff: boolean): void {
    for (const pod of this.known.values()) if (pod.spec.nodeName === node) this.changed(pod);
    this.listed();
    for (const [uid, entry] of this.runners) {
      if (entry.node !== node) continue;
      if (poweredOff) entry.runner.restartAfterPowerLoss();
      else entry.runner.resume();
      if (!this.known.has(uid)) entry.runner.vanish();
    }
  }

  private create(context: NodeContext, pod: Pod): void {
    const { uid } = pod.metadata;
    const record = this.saved.get(uid)?.record;
    this.saved.delete(uid);
    const runner = new PodRunner(context, pod, record, () => this.runners.delete(uid));
    this.runners.set(uid, { node: context.name, runner });
  }
}
