import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { resolveArtifact } from '../../../deploy/local/cache/resolve.ts';
import { temporalCli } from '../../../deploy/local/parts/temporal.ts';
import { silentProgress } from '../../../deploy/local/progress.ts';
import type { ClusterWorld } from '../../valkey/cluster-world.ts';

const README = new URL('../../../workflows/valkey-cluster/README.md', import.meta.url);

/** How a command line ended, and what it said. */
export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The `temporal` commands of the lifecycle's README, each on one line, about this cluster in place of `default/cache`. */
export function documentedCommands(world: ClusterWorld): readonly string[] {
  const whole = readFileSync(README, 'utf8').replaceAll('\\\n', ' ');
  return whole
    .split('\n')
    .filter((line) => line.startsWith('temporal workflow '))
    .map((line) =>
      line
        .replaceAll('valkey-cluster/default/cache', world.entityId)
        .replaceAll(
          '"namespace": "default", "name": "cache"',
          `"namespace": "${world.namespace}", "name": "${world.name}"`,
        ),
    );
}

/** Runs a line as a person types it, with the stack's `temporal` on the path and its server as the address. */
export async function runTyped(world: ClusterWorld, line: string): Promise<Said> {
  const program = await resolveArtifact(temporalCli, silentProgress, new AbortController().signal);
  const env = {
    ...process.env,
    PATH: `${dirname(program.file('temporal'))}:${process.env['PATH'] ?? ''}`,
    TEMPORAL_ADDRESS: world.stack.temporalAddress,
  };
  return new Promise((resolve) => {
    execFile('bash', ['-c', line], { env }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });
}
