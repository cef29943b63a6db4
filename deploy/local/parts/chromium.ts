import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Artifact, ResolvedArtifact } from '../cache/artifact.ts';
import { debianPackages } from '../cache/debian.ts';
import { pathPrograms } from '../cache/path-program.ts';

const BROWSER = 'usr/lib/chromium/chromium';

/** The browser in which tests look at the Web UI; nothing in the stack needs it. */
export const chromium: Artifact = {
  name: 'chromium',
  version: 'current',
  files: { [BROWSER]: { verifiedBy: "Debian's signature of the release" } },
  sources: [
    pathPrograms([BROWSER], { args: ['--version', '--no-sandbox'], fits: /^Chromium \d+/m }),
    // Fonts belong to it: a page without letters has nothing to look at.
    debianPackages({ release: 'machine', packages: ['chromium', 'fonts-dejavu-core'] }),
  ],
};

/** How the browser is started: an unpacked one must be told where its libraries and fonts are. */
export interface BrowserProgram {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  readonly fontDirectories: readonly string[];
}

/** The program of a resolved browser, with what it needs around it. */
export function browserProgram(resolved: ResolvedArtifact): BrowserProgram {
  const program = resolved.file(BROWSER);
  const fonts = '/usr/share/fonts';
  if (resolved.origin !== 'cache') return { program, env: {}, fontDirectories: [fonts] };
  const root = join(dirname(program), '..', '..', '..');
  const libraries = ['usr/lib', 'lib'].flatMap((name) => libraryDirectories(join(root, name)));
  return {
    program,
    env: { LD_LIBRARY_PATH: libraries.join(':') },
    fontDirectories: [fonts, join(root, fonts)],
  };
}

/** Every directory below with a library in it: several of them lie apart and are found by a path of their own. */
function libraryDirectories(directory: string): readonly string[] {
  const found = new Set<string>();
  for (const entry of readEntries(directory)) {
    if (!entry.isDirectory() && /\.so(\.\d+)*$/.test(entry.name)) found.add(entry.parentPath);
  }
  return [...found];
}

function readEntries(directory: string): ReturnType<typeof readWithTypes> {
  try {
    return readWithTypes(directory);
  } catch {
    return []; // Packages of a newer Debian have no /lib.
  }
}

const readWithTypes = (directory: string) => readdirSync(directory, { recursive: true, withFileTypes: true });
