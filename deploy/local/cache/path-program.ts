import { basename } from 'node:path';
import type { InstalledSource } from './artifact.ts';
import { findOnPath, runTool } from './tool.ts';

/**
 * Programs that the machine has on its `PATH`, taken when what they say of their version fits. Each is given as the
 * name of the artifact's file that it stands for; the program has the last part of that name.
 */
export function pathPrograms(
  files: readonly string[],
  version: { readonly args: readonly string[]; readonly fits: RegExp },
): InstalledSource {
  return {
    kind: 'installed',
    what: `${files.map((file) => basename(file)).join(' and ')} on PATH`,
    async locate() {
      const found: Record<string, string> = {};
      for (const file of files) {
        const path = findOnPath(basename(file));
        if (path === undefined || !(await saysFittingVersion(path, version))) return undefined;
        found[file] = path;
      }
      return found;
    },
  };
}

async function saysFittingVersion(
  path: string,
  version: { args: readonly string[]; fits: RegExp },
): Promise<boolean> {
  try {
    const { stdout, stderr } = await runTool(path, version.args);
    return version.fits.test(stdout + stderr);
  } catch {
    return false; // A program that cannot even tell its version is not one to rely on.
  }
}
