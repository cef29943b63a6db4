import type { EntityStatus, OperationProgress, StepProgress } from '../../../workflows/shared/messages.ts';
import { table } from '../output.ts';
import { indent, renderParameters } from './parameters.ts';
import { counted } from './plan-text.ts';
import { renderClock, renderDuration } from './times.ts';

/** All that is known of an entity at one moment. */
export interface EntityView {
  readonly workflowId: string;
  /** RUNNING, or how the workflow has ended. */
  readonly run: string;
  readonly status: EntityStatus;
  readonly progress: OperationProgress | null;
  /** The hash that an approval must name, when one is waited for. */
  readonly approvalHash: string | null;
}

const MARKS = { done: '✓', running: '▶', failed: '✗', skipped: '–', waiting: '·' } as const;

/** An entity as `keelson describe` shows it. */
export function renderEntity(view: EntityView, nowMs: number): string {
  const { status } = view;
  const sections = [
    renderHead(view),
    renderWaiting(view, nowMs),
    renderOperation(view, nowMs),
    renderConditions(status),
    renderLast(status),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function renderHead({ workflowId, run, status }: EntityView): string {
  const rows = [
    ['Workflow', run === 'RUNNING' ? workflowId : `${workflowId} (${run.toLowerCase()})`],
    ['Phase', status.phase],
    ['Message', status.message],
    ['Generation', `${status.generation}${status.uid === null ? '' : ` of ${status.uid}`}`],
  ];
  return table(rows.filter(([, value]) => value !== ''));
}

/** Why nothing goes on and until when, with what a person can do about it. */
export function renderWaiting({ workflowId, status, approvalHash }: EntityView, nowMs: number): string {
  const lines: string[] = [];
  if (status.paused !== null) lines.push(`Paused: ${status.paused.reason}`, `  keelson resume ${workflowId}`);
  const { waiting } = status;
  if (waiting !== null && waiting.on !== 'drift' && waiting.on !== 'pause') {
    const until = waiting.untilMs === null ? '' : `, for ${renderDuration(waiting.untilMs - nowMs)} more`;
    lines.push(`Waits (${waiting.on}${until}): ${waiting.message}`);
    if (waiting.on === 'approval' && approvalHash !== null)
      lines.push(`  keelson approve ${workflowId} --hash ${approvalHash}`);
    if (waiting.on === 'back-off' || waiting.on === 'cancelled') lines.push(`  keelson retry ${workflowId}`);
  }
  return lines.join('\n');
}

function renderOperation({ status, progress }: EntityView, nowMs: number): string {
  if (status.operation === null) return '';
  const head = `Operation ${status.operation.name}, for ${renderDuration(nowMs - status.operation.startedAtMs)}`;
  const steps = progress === null ? '' : indent(renderSteps(progress, nowMs), 2);
  return [head, steps].filter((part) => part !== '').join('\n');
}

/** The steps of a running operation with their ticks and times, and what it waits for. */
export function renderSteps(progress: OperationProgress, nowMs: number): string {
  const lines = progress.steps.map((step) => renderStep(step, nowMs));
  if (progress.waiting !== null) lines.push(`stands still: ${progress.waiting}`);
  if (progress.stopping !== null) lines.push(`is being stopped: ${progress.stopping}`);
  return lines.join('\n');
}

/** One step on one line. */
export function renderStep(step: StepProgress, nowMs: number): string {
  const facts = renderParameters(Object.entries(step.facts ?? {}));
  const parts = [
    `${MARKS[step.state]} ${step.id.padStart(2)} ${step.kind}: ${step.reason}`,
    step.startedAtMs === null ? '' : `(${renderDuration((step.endedAtMs ?? nowMs) - step.startedAtMs)})`,
    facts === '' ? '' : `[${facts}]`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function renderConditions({ conditions }: EntityStatus): string {
  if (conditions.length === 0) return '';
  return table([
    ['CONDITION', 'STATUS', 'REASON', 'MESSAGE'],
    ...conditions.map((one) => [one.type, one.status, one.reason, one.message]),
  ]);
}

function renderLast({ last, operation }: EntityStatus): string {
  if (last === null || operation !== null) return '';
  const head = `Last operation: ${renderResult(last)}`;
  const seconds = Object.entries(last.stepSeconds).map(([kind, value]) => [kind, `${value} s`]);
  const facts = renderParameters(Object.entries(last.facts));
  return [head, indent(table(seconds), 2), facts === '' ? '' : indent(facts, 2)]
    .filter((part) => part.trim() !== '')
    .join('\n');
}

/** What an operation ended with, on one line. */
export function renderResult(last: NonNullable<EntityStatus['last']>): string {
  const steps = `${last.steps.done} of ${counted(last.steps.of, 'step')}`;
  const failure = last.failure === null ? '' : `; ${last.failure.code}: ${last.failure.message}`;
  const message = last.message === '' ? '' : `: ${last.message}`;
  return `${last.operation} ${last.outcome} after ${renderDuration(last.durationMs)}, ${steps}${message}${failure}`;
}

/** What a terminal that is redrawn shows while something is watched. */
export function renderFrame(view: EntityView, nowMs: number): string {
  const { status } = view;
  const message = status.message === '' ? '' : `: ${status.message}`;
  const sections = [
    `${renderClock(nowMs)}  ${view.workflowId}  ${status.phase}${message}`,
    renderWaiting(view, nowMs),
    renderOperation(view, nowMs),
    status.operation === null && status.last !== null ? `Last operation: ${renderResult(status.last)}` : '',
  ];
  return sections.filter((section) => section !== '').join('\n');
}
