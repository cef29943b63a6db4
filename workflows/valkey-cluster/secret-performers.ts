import type { Performers } from '../shared/operation.ts';
import type { ValkeyTypes } from './contract.ts';
import { buildAccess, serversOf } from './domain/access.ts';
import { identityOf, type ValkeyRun } from './performers.ts';

/** How servers get what the Secrets say. Activities read the Secrets: no value of one passes through here. */
export const secretPerformersOf = (
  run: ValkeyRun,
): Performers<ValkeyTypes, 'AddPassword' | 'DropPassword' | 'ApplyAcl'> => ({
  AddPassword: (_, summary) => run.port.act(summary).addValkeyPassword(inputOf(run)),
  DropPassword: (_, summary) => run.port.act(summary).dropValkeyPasswords(inputOf(run)),
  ApplyAcl: (_, summary) => run.port.act(summary).applyValkeyAcl(inputOf(run)),
});

/** The change with which the password of a new cluster is kept beside it. */
const KEEPS_PASSWORD = 'valkey-keeps-password';

/** Keeps the password before the first server has it, so that it can be changed at any time from then on. */
export async function keepPassword(run: ValkeyRun): Promise<void> {
  const { cluster } = run.observed;
  if (cluster.spec.auth === undefined || !run.port.knows(KEEPS_PASSWORD)) return;
  await run.port
    .act('the password is kept beside the cluster')
    .addValkeyPassword({ access: buildAccess(cluster), owner: identityOf(run.observed), servers: [] });
}

/** A server that does not answer now reads the Secret when it starts, or is found to lack it. */
const inputOf = ({ observed }: ValkeyRun) => ({
  access: buildAccess(observed.cluster),
  owner: identityOf(observed),
  servers: serversOf(observed.pods.filter((pod) => pod.nodeId !== null && pod.ready)),
});
