import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FetchedSource } from './artifact.ts';
import { findOnPath, runTool } from './tool.ts';

/** A Go module of this project that is built on the spot; its dependencies are pinned by its `go.sum`. */
export interface GoModule {
  readonly directory: string;
  readonly program: string;
  readonly minimum: readonly [major: number, minor: number];
  readonly linkerFlags: readonly string[];
}

/** Builds a module of this project with the machine's Go. */
export function goBuild(module: GoModule): FetchedSource {
  const wanted = module.minimum.join('.');
  return {
    kind: 'fetched',
    what: `a build with Go ${wanted} or later`,
    async findObstacle() {
      if (findOnPath('go') === undefined) return `Go ${wanted} or later is not on PATH (https://go.dev/dl)`;
      const { stdout } = await runTool('go', ['env', 'GOVERSION']);
      const [major = 0, minor = 0] = (/go(\d+)\.(\d+)/.exec(stdout)?.slice(1) ?? []).map(Number);
      const fits = major > module.minimum[0] || (major === module.minimum[0] && minor >= module.minimum[1]);
      return fits
        ? undefined
        : `Go ${wanted} or later is needed, ${stdout.trim()} is on PATH (https://go.dev/dl)`;
    },
    async fetch(directory, { task, signal }) {
      const env = { CGO_ENABLED: '0', GOWORK: 'off' };
      const options = { cwd: module.directory, env, signal };
      task.update('fetching the modules');
      // Only the modules that the program is really made of: the whole graph has many more.
      const total = (await runTool('go', ['list', '-deps', '.'], options)).stdout.trim().split('\n').length;
      let built = 0;
      const onLine = (): void => task.update(`building, ${(built += 1)} of ${total} packages`);
      const flags = ['-v', '-trimpath', '-ldflags', module.linkerFlags.join(' ')];
      await runTool('go', ['build', ...flags, '-o', join(directory, module.program), '.'], {
        ...options,
        onLine,
      });
    },
  };
}

/** Changes whenever the module's own files change, so that a newer checkout builds anew. */
export function hashGoModule(directory: string): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(directory, file)));
  return hash.digest('hex').slice(0, 8);
}
