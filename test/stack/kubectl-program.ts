import { resolveArtifact } from '../../deploy/local/cache/resolve.ts';
import { kubectl } from '../../deploy/local/parts/kubectl.ts';
import { silentProgress } from '../../deploy/local/progress.ts';

let resolved: Promise<string> | undefined;

/** The path of kubectl: the machine's own, or one that is fetched for the tests. */
export function kubectlProgram(): Promise<string> {
  resolved ??= resolveArtifact(kubectl, silentProgress, new AbortController().signal).then((found) =>
    found.file('usr/bin/kubectl'),
  );
  return resolved;
}
