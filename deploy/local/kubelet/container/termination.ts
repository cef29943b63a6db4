import type { Container } from '../api/objects.ts';
import type { Termination } from '../pod/record.ts';
import type { ExitReport } from './process.ts';

/** What a container left behind. */
export interface Remains {
  readonly report: ExitReport;
  /** The content of its termination message file. */
  readonly message: string;
  /** The end of its log. */
  readonly logTail: string;
}

const messageBytes = 4096;
const fallbackLines = 80;
const fallbackBytes = 2048;

/** How the end of a container is told to the API. */
export function buildTermination(
  container: Container,
  { report, message, logTail }: Remains,
  startedAtMs: number,
  containerId: string,
): Termination {
  const times = { startedAtMs, finishedAtMs: Math.max(report.finishedAtMs, startedAtMs), containerId };
  if (report.exitCode === undefined) return { ...buildUnknown(logTail), ...times };
  const failed = report.exitCode !== 0;
  const fallsBack =
    failed && container.terminationMessagePolicy === 'FallbackToLogsOnError' && message === '';
  const words = fallsBack ? lastLines(logTail) : message.slice(0, messageBytes);
  return {
    exitCode: report.exitCode,
    reason: failed ? 'Error' : 'Completed',
    ...(words === '' ? {} : { message: words }),
    ...times,
  };
}

/** Bubblewrap says why it could not start a program as the only line of the log. */
function buildUnknown(logTail: string): Pick<Termination, 'exitCode' | 'reason' | 'message'> {
  const last = logTail.trimEnd().split('\n').at(-1) ?? '';
  if (last.startsWith('bwrap: ')) return { exitCode: 128, reason: 'StartError', message: last.slice(7) };
  const message = 'The container could not be located when the pod was terminated';
  return { exitCode: 137, reason: 'ContainerStatusUnknown', message };
}

function lastLines(text: string): string {
  return text.split('\n').slice(-fallbackLines).join('\n').slice(-fallbackBytes);
}
