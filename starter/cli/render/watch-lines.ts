import type { EntityView } from './entity-text.ts';
import { renderResult, renderStep, renderWaiting } from './entity-text.ts';

/** What is new since the last look, a line each: what a terminal that is not redrawn, or a log, shows. */
export function selectNewLines(before: EntityView | null, now: EntityView, nowMs: number): readonly string[] {
  return [
    ...phaseLines(before, now),
    ...waitingLines(before, now, nowMs),
    ...operationLines(before, now, nowMs),
    ...(now.run !== 'RUNNING' && before?.run !== now.run ? [`workflow ${now.run.toLowerCase()}`] : []),
  ];
}

function phaseLines(before: EntityView | null, now: EntityView): readonly string[] {
  const { phase, message } = now.status;
  if (before?.status.phase === phase && before.status.message === message) return [];
  return [message === '' ? phase : `${phase}: ${message}`];
}

function waitingLines(before: EntityView | null, now: EntityView, nowMs: number): readonly string[] {
  const same =
    before !== null &&
    before.status.waiting?.on === now.status.waiting?.on &&
    before.status.waiting?.message === now.status.waiting?.message &&
    before.status.paused?.reason === now.status.paused?.reason;
  const text = same ? '' : renderWaiting(now, nowMs);
  return text === '' ? [] : text.split('\n').map((line) => line.trim());
}

function operationLines(before: EntityView | null, now: EntityView, nowMs: number): readonly string[] {
  const lines: string[] = [];
  const earlier = before?.status.operation ?? null;
  const { operation, last } = now.status;
  const another = operation?.workflowId !== earlier?.workflowId;
  const ended =
    before !== null && last !== null && JSON.stringify(last) !== JSON.stringify(before.status.last);
  if (ended && another && last.outcome === 'done') lines.push(...unseenSteps(before, nowMs));
  if (operation !== null && another)
    lines.push(`operation ${operation.name} began (${operation.workflowId})`);
  for (const step of now.progress?.steps ?? []) {
    const known = another ? undefined : before?.progress?.steps.find((one) => one.id === step.id);
    if (step.state !== 'waiting' && step.state !== known?.state) lines.push(renderStep(step, nowMs));
  }
  if (now.progress?.waiting != null && now.progress.waiting !== before?.progress?.waiting)
    lines.push(`stands still: ${now.progress.waiting}`);
  if (ended) lines.push(renderResult(last));
  return lines;
}

/** Steps that ended between two looks: an operation that is done has done them all, in a time that nobody saw. */
const unseenSteps = (before: EntityView, nowMs: number): readonly string[] =>
  (before.progress?.steps ?? [])
    .filter(({ state }) => state !== 'done')
    .map((step) => renderStep({ ...step, state: 'done', startedAtMs: null, endedAtMs: null }, nowMs));

/** Whether there is nothing more to see: the operation has ended, or the workflow has. */
export function isWatchOver(hadOperation: boolean, now: EntityView): boolean {
  if (now.run !== 'RUNNING') return true;
  const { operation, last, waiting } = now.status;
  if (operation !== null) return false;
  // A superseded operation is followed by the one that superseded it.
  if (hadOperation) return last === null || last.outcome !== 'superseded';
  return waiting === null
    ? false
    : waiting.on === 'drift' || waiting.on === 'change' || waiting.on === 'cancelled';
}
