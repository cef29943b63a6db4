import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { TemporalSession } from './temporal-session.ts';

/** An entity as visibility knows it. */
export interface EntityRow {
  readonly workflowId: string;
  readonly lifecycle: string;
  readonly namespace: string;
  readonly name: string;
  readonly run: string;
  readonly phase: string | null;
  readonly operation: string | null;
  readonly startedAtMs: number;
}

/** Every entity of the engine, or only those that run; operations and dry runs are left out. */
export async function readEntities(
  session: TemporalSession,
  options: { readonly all: boolean; readonly lifecycle?: string; readonly namespace?: string },
): Promise<readonly EntityRow[]> {
  const clauses = [
    'KeelsonKind IS NOT NULL',
    ...(options.all ? [] : ['ExecutionStatus = "Running"']),
    ...(options.namespace === undefined ? [] : [`KeelsonNamespace = ${JSON.stringify(options.namespace)}`]),
  ];
  return session.client.withDeadline(Date.now() + session.deadlineMs, async () => {
    const rows = new Map<string, EntityRow>();
    for await (const info of session.client.workflow.list({ query: clauses.join(' AND ') })) {
      const row = rowOf(info);
      if (row === null || rows.has(row.workflowId)) continue;
      if (options.lifecycle === undefined || options.lifecycle === row.lifecycle)
        rows.set(row.workflowId, row);
    }
    return [...rows.values()].sort((a, b) => (a.workflowId < b.workflowId ? -1 : 1));
  });
}

/** An entity's id has three parts; those of its operations and plans have more. */
function rowOf(info: WorkflowExecutionInfo): EntityRow | null {
  const [lifecycle, namespace, name, ...more] = info.workflowId.split('/');
  if (lifecycle === undefined || namespace === undefined || name === undefined || more.length > 0)
    return null;
  return {
    workflowId: info.workflowId,
    lifecycle,
    namespace,
    name,
    run: info.status.name,
    phase: attributeOf(info, 'KeelsonPhase'),
    operation: attributeOf(info, 'KeelsonOperation'),
    startedAtMs: info.startTime.getTime(),
  };
}

function attributeOf(info: WorkflowExecutionInfo, name: string): string | null {
  const pair = info.typedSearchAttributes.getAll().find(({ key }) => key.name === name);
  return typeof pair?.value === 'string' && pair.value !== '' ? pair.value : null;
}
