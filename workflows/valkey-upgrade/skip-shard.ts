import { ApplicationFailure, getExternalWorkflowHandle, setHandler } from '@temporalio/workflow';
import { news } from '../shared/messages.ts';
import type { EntityPort } from '../shared/port.ts';
import type { ValkeyStep } from '../valkey-cluster/domain/commands.ts';
import { skipShard, type ShardSkip } from './contract.ts';
import { shardOf } from './shard-crew.ts';

/** The port of a cluster's entity that also takes the wish to leave a shard out, and hands it on to the upgrade. */
export const withSkipShard = <A extends object>(port: EntityPort<A>): EntityPort<A> => ({
  ...port,
  serve(handlers) {
    port.serve(handlers);
    const running = (): string | null => {
      const { operation } = handlers.status();
      return operation?.name === 'upgrade' ? operation.workflowId : null;
    };
    setHandler(
      skipShard,
      async ({ shard, reason }) => {
        const upgrade = running();
        if (upgrade !== null)
          await getExternalWorkflowHandle(upgrade).signal(news, { skip: { shard, reason } });
        return { message: `shard ${shard} is left out, unless it is worked on already` };
      },
      {
        description: 'Leave a shard out of the running upgrade.',
        validator(input) {
          // Plans of a cluster have its steps, typed where they are made.
          const steps = (handlers.plan()?.steps ?? []) as unknown as readonly ValkeyStep[];
          const refusal = refuseSkip(input, running(), new Set(steps.map(shardOf)));
          if (refusal !== null) throw ApplicationFailure.nonRetryable(refusal, 'Refused');
        },
      },
    );
  },
});

/** People may send anything. */
function refuseSkip(
  input: Partial<ShardSkip> | undefined,
  upgrade: string | null,
  shards: ReadonlySet<number>,
): string | null {
  const { shard, reason } = input ?? {};
  if (
    shard === undefined ||
    !Number.isInteger(shard) ||
    shard < 0 ||
    typeof reason !== 'string' ||
    reason.trim() === ''
  )
    return 'say which and why: {"shard": 1, "reason": "…"}';
  if (upgrade === null) return 'no upgrade is running';
  return shards.has(shard) ? null : `the upgrade has nothing to do in shard ${shard}`;
}
