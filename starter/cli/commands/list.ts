import { Command } from 'commander';
import type { EntityStatus } from '../../../workflows/shared/messages.ts';
import { grpcCodeOf } from '../../temporal-errors.ts';
import { readEntities } from '../entity-list.ts';
import type { EntityRow } from '../entity-list.ts';
import { withTimeout } from '../live-command.ts';
import { examples, outputOption, print, printJson, say, table } from '../output.ts';
import type { OutputFormat } from '../output.ts';
import { renderDuration } from '../render/times.ts';
import { findLifecycle } from '../target.ts';
import { withTemporal } from '../temporal-session.ts';
import type { TemporalSession } from '../temporal-session.ts';
import { loadLifecycles } from '../lifecycles.ts';

interface ListOptions {
  readonly output: OutputFormat;
  readonly namespace?: string;
  readonly lifecycle?: string;
  readonly all?: true;
  readonly quick?: true;
  readonly timeout: number;
}

/** `keelson list`: every entity with its phase, its operation and what it waits for. */
export function command(): Command {
  return withTimeout(new Command('list'))
    .description('List the resources that Keelson looks after, with phase, operation and what is waited for.')
    .option('-n, --namespace <namespace>', 'only this namespace')
    .option('-l, --lifecycle <lifecycle>', 'only this lifecycle, or kind')
    .option('-a, --all', 'also those whose workflow has ended')
    .option('-q, --quick', 'only what is indexed: do not ask the workflows')
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples(
        ['keelson list', 'everything that runs'],
        ['keelson list -n shop -l valkeycluster', 'the Valkey clusters of one namespace'],
        ['keelson list -o json', 'for a script'],
      ),
    )
    .action(list);
}

async function list(options: ListOptions): Promise<void> {
  const lifecycle =
    options.lifecycle === undefined
      ? undefined
      : findLifecycle(options.lifecycle, await loadLifecycles()).lifecycle;
  await withTemporal(options.timeout * 1000, async (session) => {
    const rows = await readEntities(session, {
      all: options.all === true,
      ...(lifecycle === undefined ? {} : { lifecycle }),
      ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    });
    const entities = await withStatus(session, rows, options.quick === true);
    if (options.output === 'json') printJson(entities);
    else if (entities.length === 0)
      say('There is nothing yet: apply a resource, or try "keelson list --all".');
    else print(table([['RESOURCE', 'PHASE', 'OPERATION', 'WAITS FOR', 'AGE'], ...entities.map(cellsOf)]));
  });
}

interface ListedEntity extends EntityRow {
  /** Null when it was not asked or did not answer. */
  readonly status: EntityStatus | null;
  readonly silent: boolean;
}

const AT_ONCE = 8;

async function withStatus(
  session: TemporalSession,
  rows: readonly EntityRow[],
  quick: boolean,
): Promise<readonly ListedEntity[]> {
  const listed: ListedEntity[] = [];
  for (let at = 0; at < rows.length; at += AT_ONCE)
    listed.push(...(await Promise.all(rows.slice(at, at + AT_ONCE).map((row) => ask(session, row, quick)))));
  return listed;
}

async function ask(session: TemporalSession, row: EntityRow, quick: boolean): Promise<ListedEntity> {
  if (quick || row.run !== 'RUNNING') return { ...row, status: null, silent: false };
  try {
    const status = await session.client.withDeadline(Date.now() + session.deadlineMs, () =>
      session.client.workflow.getHandle(row.workflowId).query<EntityStatus>('status'),
    );
    return { ...row, status, silent: false };
  } catch (error) {
    // One that is parked or without a worker must not hide the others; "describe" says why it is silent.
    if (grpcCodeOf(error) === null) throw error;
    return { ...row, status: null, silent: true };
  }
}

function cellsOf(entity: ListedEntity): readonly string[] {
  const { status } = entity;
  const waits = entity.silent
    ? `no answer: see "keelson describe ${entity.workflowId}"`
    : status?.paused != null
      ? `resume: ${status.paused.reason}`
      : status?.waiting == null || status.waiting.on === 'drift'
        ? '-'
        : `${status.waiting.on}: ${status.waiting.message}`;
  return [
    entity.workflowId,
    entity.run === 'RUNNING' ? (status?.phase ?? entity.phase ?? '?') : entity.run.toLowerCase(),
    status === null ? (entity.operation ?? '-') : (status.operation?.name ?? '-'),
    waits,
    renderDuration(Date.now() - entity.startedAtMs),
  ];
}
