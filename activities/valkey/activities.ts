import type { ValkeyClients } from './access.ts';
import { applyAcl } from './apply-acl.ts';
import { assignSlots } from './assign-slots.ts';
import { attachReplica } from './attach-replica.ts';
import { awaitHealth } from './await-health.ts';
import { awaitStability } from './await-stability.ts';
import { cancelMigrations } from './cancel-migrations.ts';
import { configure } from './configure.ts';
import type { ValkeyActivities } from './contract.ts';
import { asValkeyFailure } from './errors.ts';
import { forgetNodes } from './forget-nodes.ts';
import { handOver } from './hand-over.ts';
import { meetNodes } from './meet-nodes.ts';
import { migrateSlots } from './migrate-slots.ts';
import { createObserve } from './observe.ts';
import { addPassword, dropPasswords } from './rotate-password.ts';
import { snapshot } from './snapshot.ts';
import { elect, takeOver } from './take-over.ts';
import { KubernetesError, asKubernetesFailure } from '../kubernetes/errors.ts';

/** What workflows may ask of Valkey. */
export function createValkeyActivities(clients: ValkeyClients): ValkeyActivities {
  const observe = createObserve(clients);
  return {
    /** Safe to repeat: it only looks. */
    observeValkeyCluster: (ref) => typed(() => observe(ref)),
    /** Safe to repeat: only who does not know another one yet is introduced, and an epoch is given once. */
    meetValkeyNodes: (input) => typed(() => meetNodes(clients, input)),
    /** Safe to repeat: only slots that the server does not serve yet are added. */
    assignValkeySlots: (input) => typed(() => assignSlots(clients, input)),
    /** Safe to repeat: a server that follows the master already is only waited for. */
    attachValkeyReplica: (input) => typed(() => attachReplica(clients, input)),
    /** Safe to repeat: slots that have arrived are left alone, and a job that runs is adopted. */
    migrateValkeySlots: (input) => typed(() => migrateSlots(clients, input)),
    /** Safe to repeat: only what still moves is ended. */
    cancelValkeyMigrations: (input) => typed(() => cancelMigrations(clients, input)),
    /** Safe to repeat: a server that is master already is only verified. */
    handOverValkeyMaster: (input) => typed(() => handOver(clients, input)),
    /** Safe to repeat: a server that leads already is only verified. */
    takeOverValkeyMaster: (input) => typed(() => takeOver(clients, input)),
    electValkeyMaster: (input) => typed(() => elect(clients, input)),
    /** Safe to repeat: a value that is set already is left alone. */
    configureValkeyServers: (input) => typed(() => configure(clients, input)),
    /** Safe to repeat: a password that a server has already is left alone, and what is kept is kept before it is given. */
    addValkeyPassword: (input) => typed(() => addPassword(clients, input)),
    /** Safe to repeat: a password that a server refuses already is left alone. */
    dropValkeyPasswords: (input) => typed(() => dropPasswords(clients, input)),
    /** Safe to repeat: users are set as a whole, to the same again. */
    applyValkeyAcl: (input) => typed(() => applyAcl(clients, input)),
    /** Safe to repeat: who is reset or forgotten already is left alone. */
    forgetValkeyNodes: (input) => typed(() => forgetNodes(clients, input)),
    /** Safe to repeat: it only looks. */
    awaitValkeyStability: (input) => typed(() => awaitStability(clients, input)),
    /** Safe to repeat: another snapshot does no harm. */
    snapshotValkeyServer: (input) => typed(() => snapshot(clients, input)),
    /** Safe to repeat: it only looks. */
    awaitValkeyHealth: (input) => typed(() => awaitHealth(clients, input)),
  };
}

async function typed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof KubernetesError ? asKubernetesFailure(error) : asValkeyFailure(error);
  }
}
