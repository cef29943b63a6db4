import { TIMES } from './times.ts';

/** An instance that lives, and whose tags say that it was launched for an agent. */
export interface TaggedInstance {
  readonly id: string;
  readonly agentId: string;
  readonly clientId: string;
  readonly replica: string | null;
  readonly launchedAtMs: number;
}

/** What the database remembers of such instances and their agents. */
export interface Remembrance {
  readonly nowMs: number;
  /** Those of the agents that have a row. */
  readonly agents: readonly string[];
  readonly instances: readonly {
    readonly id: string;
    readonly agentId: string;
    readonly isPrimary: boolean;
  }[];
  readonly replicas: readonly { readonly id: string; readonly agentId: string }[];
}

/** What becomes of an instance whose agent has no row any more, and why. */
export interface OrphanVerdict {
  readonly instance: TaggedInstance;
  readonly do: 'terminate' | 'report';
  readonly reason: string;
}

/**
 * Judges every instance whose agent is gone: no workflow looks after it. Only what this database launched, and what does
 * not serve, is ended: tags alone could be those of another installation in the same account.
 */
export function judgeOrphans(
  tagged: readonly TaggedInstance[],
  remembered: Remembrance,
): readonly OrphanVerdict[] {
  const { agents, nowMs } = remembered;
  return tagged
    .filter(
      ({ agentId, launchedAtMs }) => !agents.includes(agentId) && nowMs - launchedAtMs >= TIMES.unseenMs,
    )
    .map((instance) => ({ instance, ...judge(instance, remembered) }));
}

function judge(
  { id, agentId, replica }: TaggedInstance,
  { instances, replicas }: Remembrance,
): Pick<OrphanVerdict, 'do' | 'reason'> {
  const gone = `agent ${agentId} has no row any more`;
  const row = instances.find((one) => one.id === id && one.agentId === agentId);
  if (row?.isPrimary === true)
    return {
      do: 'report',
      reason: `${gone}, and it was its PRIMARY: whether it still serves, a person knows`,
    };
  if (row !== undefined) return { do: 'terminate', reason: `${gone}, and it was no PRIMARY` };
  const launched = replicas.find((one) => one.id === replica && one.agentId === agentId);
  return launched === undefined
    ? { do: 'report', reason: `${gone}, and nothing here remembers a launch of it: it may be another’s` }
    : { do: 'terminate', reason: `${gone}, and it was launched for its replica ${launched.id}` };
}
