import { fieldOf, textOf } from '../../../starter/object-field.ts';
import { failure } from '../../../workflows/shared/failures.ts';
import type { Condition, Hint } from '../../../workflows/shared/messages.ts';
import {
  APPLIED_ANNOTATION,
  SHARD_LABEL,
  TEMPLATE_ANNOTATION,
} from '../../../workflows/valkey-cluster/domain/names.ts';
import type { SlotRange, ValkeyClusterSpec } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { DEFAULT_SPEC } from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';

import { tagOf, UPGRADE_KIND } from '../../../workflows/valkey-upgrade/domain/resource.ts';
import { WorldSecrets } from './world-secrets.ts';
import { WorldUpgrades } from './world-upgrades.ts';

export const REF = { namespace: 'default', name: 'cache' } as const;

/** The resource as the API server would keep it. */
export interface WorldResource {
  readonly uid: string;
  generation: number;
  deleting: boolean;
  spec: ValkeyClusterSpec;
  status: Readonly<Record<string, unknown>>;
  conditions: readonly Condition[];
}

export interface WorldSet {
  readonly name: string;
  readonly uid: string;
  readonly shard: number;
  replicas: number;
  image: string;
  hash: string;
  applied: string | null;
}

export interface WorldPod {
  readonly name: string;
  readonly uid: string;
  readonly shard: number;
  readonly ip: string;
  readonly readyAtMs: number;
  readonly image: string;
  readonly hash: string;
}

/** A Valkey server; it outlives its pod where that has a volume. */
export interface WorldServer {
  id: string;
  knows: string[];
  masterId: string | null;
  slots: SlotRange[];
  /** What it lets clients in with; a pod that starts reads the Secret. */
  passwords: string[];
}

/** A member that went with its pod, for good. */
interface LostMember {
  readonly id: string;
  slots: SlotRange[];
  readonly electsAtMs: number;
}

const STARTS_AFTER_MS = 700;
/** A lost master must be called failed by the others before its replica is elected. */
const ELECTS_AFTER_MS = 6_000;
const IMAGES: ReadonlySet<string> = new Set(['8.1.8', '9.0.0', '9.1.2']);

/** A cluster, the controllers of Kubernetes and the Valkey servers, in memory. */
export class ValkeyWorld {
  resource: WorldResource | null = null;
  sets: WorldSet[] = [];
  pods: WorldPod[] = [];
  readonly servers = new Map<string, WorldServer>();
  /** Members without a volume whose pods have gone, and that others may still know. */
  lost: LostMember[] = [];
  objects: Record<string, string> = {};
  missingSecret = false;
  /** Objects that have this in them are refused, as an admission webhook does. */
  refused: RegExp | null = null;
  readonly secrets = new WorldSecrets();
  readonly upgrades = new WorldUpgrades(() => this.serial('uid'));
  readonly events: string[] = [];
  readonly phases: string[] = [];
  #serial = 0;

  apply(spec: Partial<ValkeyClusterSpec> = {}): Hint {
    const filled = { ...DEFAULT_SPEC, ...spec };
    if (this.resource === null) {
      const uid = this.serial('uid');
      this.resource = { uid, generation: 1, deleting: false, spec: filled, status: {}, conditions: [] };
    } else {
      this.resource.spec = filled;
      this.resource.generation += 1;
    }
    return this.hint();
  }

  delete(): Hint {
    const resource = this.present();
    resource.deleting = true;
    resource.generation += 1;
    return this.hint();
  }

  hint(): Hint {
    const { uid, generation } = this.present();
    return { kind: 'ValkeyCluster', uid, generation };
  }

  present(): WorldResource {
    if (this.resource === null) throw failure('ResourceGone', 'the cluster is gone');
    return this.resource;
  }

  serial(of: string): string {
    this.#serial += 1;
    return `${of}-${String(this.#serial).padStart(4, '0')}`;
  }

  /** What the API server and the StatefulSet controller do with an applied object. */
  put(object: unknown, nowMs: number): void {
    const kind = textOf(object, 'kind') ?? '';
    const name = textOf(fieldOf(object, 'metadata'), 'name') ?? '';
    if (kind === UPGRADE_KIND) {
      this.upgrades.create(name, fieldOf(object, 'spec'), nowMs, true);
      return;
    }
    if (kind !== 'StatefulSet') {
      this.objects[`${kind}/${name}`] ??= this.serial('uid');
      return;
    }
    const spec = fieldOf(object, 'spec');
    const template = fieldOf(spec, 'template');
    const labels = fieldOf(fieldOf(object, 'metadata'), 'labels');
    const annotations = fieldOf(fieldOf(template, 'metadata'), 'annotations');
    const containers = fieldOf(fieldOf(template, 'spec'), 'containers') as readonly unknown[];
    const wish = {
      replicas: Number(fieldOf(spec, 'replicas')),
      image: textOf(containers[0], 'image') ?? '',
      hash: textOf(annotations, TEMPLATE_ANNOTATION) ?? '',
      applied: textOf(fieldOf(fieldOf(object, 'metadata'), 'annotations'), APPLIED_ANNOTATION),
    };
    const known = this.sets.find((set) => set.name === name);
    if (known === undefined) {
      const shard = Number(textOf(labels, SHARD_LABEL));
      this.sets.push({ name, uid: this.serial('uid'), shard, ...wish });
    } else Object.assign(known, wish);
    this.control(nowMs);
  }

  /** The StatefulSet controller: pods that are missing come, with a new address, and those beyond its number go. */
  control(nowMs: number): void {
    for (const set of this.sets) {
      const surplus = (pod: WorldPod): boolean =>
        pod.shard === set.shard && Number(pod.name.slice(set.name.length + 1)) >= set.replicas;
      this.#endPods(surplus, nowMs);
      for (let ordinal = 0; ordinal < set.replicas; ordinal += 1) {
        const name = `${set.name}-${ordinal}`;
        if (this.pods.some((pod) => pod.name === name)) continue;
        const { shard, image, hash } = set;
        const ip = `127.0.0.${this.serial('').slice(1)}`;
        const readyAtMs = nowMs + STARTS_AFTER_MS;
        this.pods.push({ name, uid: this.serial('uid'), shard, ip, readyAtMs, image, hash });
        if (!this.servers.has(name)) {
          this.servers.set(name, {
            id: this.serial('node'),
            knows: [],
            masterId: null,
            slots: [],
            passwords: [],
          });
        }
        this.server(name).passwords = [this.secrets.password];
      }
    }
  }

  remove(kind: string, name: string, uid: string, nowMs: number): void {
    if (kind === 'StatefulSet') this.sets = this.sets.filter((set) => set.uid !== uid);
    else if (kind === 'Pod') this.#endPods((pod) => pod.uid === uid, nowMs);
    else if (this.objects[`${kind}/${name}`] === uid) delete this.objects[`${kind}/${name}`];
    this.control(nowMs);
  }

  /** Whether a pod takes its server's data and identity with it. */
  get hasVolumes(): boolean {
    return this.resource?.spec.persistence.enabled !== false;
  }

  #endPods(leaves: (pod: WorldPod) => boolean, nowMs: number): void {
    for (const { name } of this.hasVolumes ? [] : this.pods.filter(leaves)) {
      const { id, slots } = this.server(name);
      this.lost.push({ id, slots, electsAtMs: nowMs + ELECTS_AFTER_MS });
      this.servers.delete(name);
    }
    this.pods = this.pods.filter((pod) => !leaves(pod));
  }

  /** What the servers do by themselves: a replica of a lost master is elected in its time, and has all of its slots. */
  elect(nowMs: number): void {
    for (const member of this.lost.filter(
      ({ slots, electsAtMs }) => slots.length > 0 && electsAtMs <= nowMs,
    )) {
      const [heir, ...others] = [...this.servers.values()].filter((one) => one.masterId === member.id);
      if (heir === undefined) continue;
      Object.assign(heir, { slots: member.slots, masterId: null });
      for (const one of others) one.masterId = heir.id;
      member.slots = [];
    }
  }

  /** Members that somebody knows and that no pod is any more. */
  strays(): readonly LostMember[] {
    const known = new Set(this.pods.flatMap(({ name }) => this.server(name).knows));
    return this.lost.filter(({ id }) => known.has(id));
  }

  isReady(pod: WorldPod, nowMs: number): boolean {
    return this.hasImage(pod) && nowMs >= pod.readyAtMs;
  }

  /** Whether its image can be pulled. */
  hasImage({ image }: Pick<WorldPod, 'image'>): boolean {
    return IMAGES.has(tagOf(image));
  }

  server(pod: string): WorldServer {
    const server = this.servers.get(pod);
    if (server === undefined) throw failure('ValkeyUnreachable', `${pod} does not answer`);
    return server;
  }
}
