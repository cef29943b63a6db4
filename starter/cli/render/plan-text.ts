import { indent, renderParameters } from './parameters.ts';

/** A step as every lifecycle writes it: the header that all share, and its own parameters beside it. */
export interface RenderableStep {
  readonly id: string;
  readonly kind: string;
  readonly group: number;
  readonly reason: string;
  readonly irreversible: boolean;
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** A datamesh transition: steps of its own, between states. */
export interface RenderableTransition {
  readonly op: string;
  readonly member?: string | null;
  readonly plan: string;
  readonly group: number;
  readonly steps: readonly {
    readonly from?: unknown;
    readonly to?: unknown;
    readonly q?: number;
    readonly qmr?: number;
    readonly confirm?: readonly string[];
    readonly commands?: Readonly<Record<string, readonly string[]>>;
    readonly wait?: unknown;
    readonly irreversible?: boolean;
    readonly reason?: string;
  }[];
}

/** What the renderer needs of a plan envelope: every lifecycle's own envelope fits. */
export interface RenderablePlan {
  readonly lifecycle: string;
  readonly resource: string;
  readonly operation?: string;
  readonly version?: number;
  readonly steps?: readonly RenderableStep[];
  readonly transitions?: readonly RenderableTransition[];
  readonly blocked: readonly {
    readonly guard: string;
    readonly message: string;
    readonly step?: string | null;
    readonly intent?: unknown;
    readonly member?: string | null;
  }[];
  readonly unknown: readonly { readonly guard: string; readonly needs: string }[];
  readonly totals?: Readonly<Record<string, unknown>>;
  readonly hash: string;
}

/** A plan as a person reads it: what, in which order, why, what holds it up, and the hash that approves it. */
export function renderPlan(plan: RenderablePlan): string {
  const sections = [
    renderHeading(plan),
    renderGroups(plan),
    renderBlocked(plan),
    renderUnknown(plan),
    renderFoot(plan),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function renderHeading(plan: RenderablePlan): string {
  const count = (plan.steps ?? plan.transitions ?? []).length;
  const what = plan.transitions === undefined ? 'step' : 'transition';
  const operation = plan.operation === undefined ? '' : `${plan.operation}, `;
  const heading = `${plan.lifecycle} ${plan.resource}: ${operation}${counted(count, what)}`;
  if (count > 0 || plan.blocked.length > 0) return heading;
  return `${heading}\n\nNothing to do: what is observed is what is wanted.`;
}

function renderGroups(plan: RenderablePlan): string {
  const rows = [...(plan.steps ?? []), ...(plan.transitions ?? [])];
  const groups = [...new Set(rows.map((row) => row.group))].sort((a, b) => a - b);
  return groups
    .map((group) => {
      const members = rows.filter((row) => row.group === group);
      const together = members.length > 1 ? ' (may run at the same time)' : '';
      return [`Group ${group}${together}`, ...members.map((row) => indent(renderRow(row), 2))].join('\n');
    })
    .join('\n');
}

const renderRow = (row: RenderableStep | RenderableTransition): string =>
  'op' in row ? renderTransition(row) : renderStep(row);

const SHOWN_APART: ReadonlySet<string> = new Set(['id', 'kind', 'group', 'reason', 'irreversible', 'facts']);

function renderStep(step: RenderableStep): string {
  const parameters = renderParameters(Object.entries(step).filter(([key]) => !SHOWN_APART.has(key)));
  const facts = renderParameters(Object.entries(step.facts ?? {}));
  const lines = [joined([step.id.padStart(3), step.kind, parameters, mark(step.irreversible)])];
  lines.push(indent(step.reason, 5));
  if (facts !== '') lines.push(indent(`measured: ${facts}`, 5));
  return lines.join('\n');
}

function renderTransition(transition: RenderableTransition): string {
  const head = joined([transition.op, transition.member ?? '', `by ${transition.plan}`]);
  return [head, ...transition.steps.map((step, at) => indent(renderTransitionStep(step, at + 1), 2))].join(
    '\n',
  );
}

function renderTransitionStep(step: RenderableTransition['steps'][number], ordinal: number): string {
  const change = step.from === step.to ? `stays ${text(step.to)}` : `${text(step.from)} → ${text(step.to)}`;
  const quorum = renderParameters([
    ['q', step.q],
    ['qmr', step.qmr],
  ]);
  const lines = [joined([String(ordinal).padStart(3), change, quorum, mark(step.irreversible === true)])];
  if (step.reason !== undefined) lines.push(indent(step.reason, 5));
  for (const [node, commands] of Object.entries(step.commands ?? {}))
    for (const command of commands) lines.push(indent(`${node}: ${command}`, 5));
  if (step.confirm !== undefined && step.confirm.length > 0)
    lines.push(indent(`confirmed by ${step.confirm.join(', ')}`, 5));
  if (typeof step.wait === 'string' && step.wait !== '') lines.push(indent(`waits for ${step.wait}`, 5));
  return lines.join('\n');
}

function renderBlocked(plan: RenderablePlan): string {
  if (plan.blocked.length === 0) return '';
  const rows = plan.blocked.map((row) => {
    const place = row.step ?? row.member ?? null;
    const where = place === null ? '' : row.step == null ? ` (${place})` : ` (step ${place})`;
    return indent(`${row.guard}${where}: ${row.message}`, 2);
  });
  return ['Blocked', ...rows].join('\n');
}

function renderUnknown(plan: RenderablePlan): string {
  if (plan.unknown.length === 0) return '';
  const rows = plan.unknown.map((row) => indent(`${row.guard} needs ${row.needs}`, 2));
  return ['Not judged, because facts are missing (it blocks nothing here)', ...rows].join('\n');
}

function renderFoot(plan: RenderablePlan): string {
  const totals = renderParameters(Object.entries(plan.totals ?? {}));
  return [totals === '' ? '' : `Totals: ${totals}`, `Hash:   ${plan.hash}`]
    .filter((line) => line !== '')
    .join('\n');
}

const mark = (irreversible: boolean): string => (irreversible ? '[cannot be undone]' : '');
const joined = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('  ');
const text = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '?'));

/** `1 step`, `2 steps`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
