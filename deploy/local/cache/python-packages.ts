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

/** The version of Python on this machine: packages with compiled code fit only that one. */
export function pythonVersion(): string {
  return askPython().version;
}

/** Python itself, not a script that stands for it: a process must be known again by its command line. */
export function pythonProgram(): string {
  return askPython().program;
}

const QUESTION = 'import sys; print("py%d.%d" % sys.version_info[:2]); print(sys.executable)';
let answer: { readonly version: string; readonly program: string } | undefined;

function askPython(): { readonly version: string; readonly program: string } {
  if (answer !== undefined) return answer;
  const { stdout } = spawnSync('python3', ['-c', QUESTION], { encoding: 'utf8' });
  // Without Python there is no output at all; that it is missing is told when it is needed.
  const [version = 'py', program = 'python3'] = (stdout ?? '')
    .trim()
    .split('\n')
    .filter((line) => line !== '');
  answer = { version, program };
  return answer;
}
