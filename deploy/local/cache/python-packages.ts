import { spawnSync } from 'node:child_process';
import type { FetchedSource } from './artifact.ts';
import { findPipObstacle } from './python-wheel.ts';
import { runTool } from './tool.ts';

/** Packages of the Python registry with all that they need, in a directory of their own. */
export function pythonPackages(requirement: string): FetchedSource {
  return {
    kind: 'fetched',
    what: `the Python packages of ${requirement}`,
    findObstacle: findPipObstacle,
    async fetch(directory, { task, signal }) {
      task.update(`fetching ${requirement}`);
      const args = [
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '--no-cache-dir',
        '--no-compile',
      ];
      await runTool('python3', [...args, '--target', directory, requirement], { signal });
    },
  };
}

let version: string | undefined;

/** The version of Python on this machine: packages with compiled code fit only that one. */
export function pythonVersion(): string {
  version ??= spawnSync('python3', ['-c', 'import sys; print("py%d.%d" % sys.version_info[:2])'], {
    encoding: 'utf8',
  }).stdout?.trim();
  return version ?? 'py';
}
