import type { Condition } from '../../workflows/shared/messages.ts';
import type { Facts, Json } from '../../workflows/shared/plan.ts';

/** What names one object in the API server. */
export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** An object of which we know that it is this one and not its successor. */
export interface ObjectIdentity extends ObjectName {
  readonly uid: string;
}

/** An object's full intent, as it would be applied from a file. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: Json | undefined;
}

/** A pod as a wait for pods reports it. */
export interface PodSeen {
  readonly name: string;
  readonly uid: string;
  readonly ip: string | null;
  readonly node: string | null;
  readonly ready: boolean;
  /** Why it is not ready, in the kubelet's own words. */
  readonly waiting: string | null;
}

/** All that workflows may ask of Kubernetes. Each may run twice. */
export interface KubernetesActivities {
  /**
   * Applies objects server-side, forcing what we own, as owned by `owner`. An object of which the uid is known is
   * never created anew. Refuses (`stale`) when the owner is gone, is another one or, where `generation` is given, newer.
   */
  applyKubernetesObjects(input: {
    readonly owner: ObjectIdentity & { readonly generation?: number };
    readonly manager: string;
    readonly objects: readonly Manifest[];
    /** The uids of objects that exist already, by `kind/name`. */
    readonly known: Readonly<Record<string, string>>;
  }): Promise<{ readonly uids: Readonly<Record<string, string>> }>;

  /** Deletes objects by uid and waits until each is really gone. */
  deleteKubernetesObjects(input: {
    readonly objects: readonly ObjectIdentity[];
    readonly gracePeriodSeconds?: number;
  }): Promise<{ readonly deleted: number }>;

  /**
   * Waits until the pods that the selector finds are `count` and all Ready, or at least `Running` with an address;
   * heartbeats `4 of 6 pods are Ready` with what holds the others.
   */
  awaitKubernetesPods(input: {
    readonly namespace: string;
    readonly selector: string;
    readonly count: number;
    readonly until?: 'Running';
  }): Promise<readonly PodSeen[]>;

  /** Writes the whole status of one resource; the times of unchanged conditions are kept. Refuses (`stale`) another uid. */
  writeKubernetesStatus(input: {
    readonly resource: ObjectIdentity;
    readonly status: Readonly<Record<string, Json>>;
    readonly conditions: readonly Condition[];
  }): Promise<void>;

  /** Records an Event on the resource; a repetition raises its count. */
  recordKubernetesEvent(input: {
    readonly resource: ObjectIdentity;
    readonly type: 'Normal' | 'Warning';
    readonly reason: string;
    readonly message: string;
    readonly facts?: Facts;
  }): Promise<void>;

  /**
   * Changes one field of a resource from what it was to what it is to be. Somebody who wants otherwise by now is left
   * alone, and then it does not hold.
   */
  setKubernetesField(input: {
    readonly resource: ObjectIdentity;
    readonly path: readonly string[];
    readonly from: Json;
    readonly to: Json;
  }): Promise<{ readonly holds: boolean }>;

  /** Lets the API server remove the resource; done already is success. */
  removeKubernetesFinalizer(input: {
    readonly resource: ObjectIdentity;
    readonly finalizer: string;
  }): Promise<void>;
}
