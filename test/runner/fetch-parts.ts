import { setPriority } from 'node:os';
import { keyOf, resolveArtifact } from '../../deploy/local/cache/resolve.ts';
import { chromium } from '../../deploy/local/parts/chromium.ts';
import { PARTS } from '../../deploy/local/parts/index.ts';
import { createProgress } from '../../deploy/local/progress.ts';
import { messageOf } from '../../deploy/local/stack-error.ts';

// The build of Kubernetes takes minutes on all cores: what a person waits for goes first.
const LOW_PRIORITY = 10;

/** Fetches or builds everything that the stack runs, and the browser that looks at it, so that no test has to wait. */
async function fetchParts(): Promise<number> {
  setPriority(LOW_PRIORITY);
  const progress = createProgress(process.stdout);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  const artifacts = new Map(
    PARTS.filter((part) => part.exists?.() ?? true)
      .flatMap((part) => part.artifacts)
      .concat(chromium)
      .map((artifact) => [keyOf(artifact), artifact]),
  );
  const outcomes = await Promise.allSettled(
    [...artifacts.values()].map(async (artifact) => resolveArtifact(artifact, progress, stop.signal)),
  );
  const reasons = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  for (const reason of reasons) console.log(`✗ ${messageOf(reason)}. ${remedyOf(reason)}`);
  return reasons.length > 0 ? 1 : 0;
}

const remedyOf = (reason: unknown): string => String(Reflect.get(Object(reason), 'remedy') ?? '');

process.exitCode = await fetchParts();
