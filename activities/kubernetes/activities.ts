import { applyObjects } from './apply-objects.ts';
import { awaitPods } from './await-pods.ts';
import type { KubernetesClient } from './client.ts';
import type { KubernetesActivities } from './contract.ts';
import { deleteObjects } from './delete-objects.ts';
import { asKubernetesFailure } from './errors.ts';
import { recordEvent } from './record-event.ts';
import { removeFinalizer } from './remove-finalizer.ts';
import { setField } from './set-field.ts';
import { writeStatus } from './write-status.ts';

/** What workflows may ask of Kubernetes, over one client. */
export function createKubernetesActivities(client: KubernetesClient): KubernetesActivities {
  return {
    /** Safe to repeat: the same intent by the same manager changes nothing. */
    applyKubernetesObjects: (input) => typed(() => applyObjects(client, input)),
    /** Safe to repeat: only the named uids are deleted. */
    deleteKubernetesObjects: (input) =>
      typed(() => deleteObjects(client, input.objects, input.gracePeriodSeconds)),
    /** Safe to repeat: it only looks. */
    awaitKubernetesPods: (input) => typed(() => awaitPods(client, input)),
    /** Safe to repeat: an unchanged status is not written. */
    writeKubernetesStatus: (input) => typed(() => writeStatus(client, input)),
    /** Repeated, it raises the count of the same event. */
    recordKubernetesEvent: (input) => typed(() => recordEvent(client, input)),
    /** Safe to repeat: a field that has its value is left alone. */
    setKubernetesField: (input) => typed(() => setField(client, input)),
    /** Safe to repeat: a finalizer that is gone is success. */
    removeKubernetesFinalizer: (input) =>
      typed(() => removeFinalizer(client, input.resource, input.finalizer)),
  };
}

async function typed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asKubernetesFailure(error);
  }
}
