import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { FetchContext, FetchedSource } from './artifact.ts';
import { findOnPath, runTool } from './tool.ts';

/** Packages of Debian, unpacked into a directory; the system itself is never changed. */
export interface DebianPackages {
  readonly packages: readonly string[];
  /**
   * `machine`: the release that the machine runs, with those dependencies that it has not installed;
   * otherwise a release by its name, with exactly the packages listed, as a root of its own.
   */
  readonly release: 'machine' | 'trixie';
  /** What is still to be done to the unpacked files. */
  readonly arrange?: (directory: string) => void;
}

const MIRROR_VARIABLE = 'KEELSON_DEBIAN_MIRROR';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Fetches packages with lists, cache and sources of their own, and unpacks them below the artifact's directory. */
export function debianPackages(wanted: DebianPackages): FetchedSource {
  const release = wanted.release === 'machine' ? "this machine's release" : wanted.release;
  return {
    kind: 'fetched',
    what: `the Debian packages ${summarize(wanted.packages)} of ${release}`,
    async findObstacle() {
      const missing = ['apt-get', 'dpkg-deb'].find((tool) => findOnPath(tool) === undefined);
      if (missing !== undefined) return `${missing} is not on PATH (this machine is not a Debian)`;
      if (wanted.release === 'machine') return undefined;
      if (!existsSync(KEYRING)) return `${KEYRING} is missing (Debian: debian-archive-keyring)`;
      return findMirror() === undefined
        ? `apt knows no Debian mirror here: set ${MIRROR_VARIABLE}`
        : undefined;
    },
    async fetch(directory, context) {
      const room = mkdtempSync(join(context.cacheDirectory, 'tmp-apt-'));
      try {
        await unpackInto(directory, room, wanted, context);
        wanted.arrange?.(directory);
      } finally {
        rmSync(room, { recursive: true, force: true });
      }
    },
  };
}

async function unpackInto(
  directory: string,
  room: string,
  wanted: DebianPackages,
  context: FetchContext,
): Promise<void> {
  const archives = join(room, 'cache', 'archives');
  for (const path of ['lists/partial', 'cache/archives/partial', 'sources'])
    mkdirSync(join(room, path), { recursive: true });
  const options = aptOptions(room, wanted.release);
  const run = { signal: context.signal, cwd: archives };
  context.task.update('reading the package lists');
  await runTool('apt-get', [...options, '-qq', 'update'], run);
  context.task.update(`fetching ${summarize(wanted.packages)}`);
  // A package that is installed, and yet not on PATH in a fitting version, is fetched like any other.
  const verb =
    wanted.release === 'machine'
      ? ['install', '--reinstall', '--yes', '--download-only', '--no-install-recommends', ...wanted.packages]
      : ['download', ...wanted.packages];
  await runTool('apt-get', [...options, '-qq', ...verb], run);
  for (const name of readdirSync(archives).filter((name) => name.endsWith('.deb'))) {
    await runTool('dpkg-deb', ['-x', join(archives, name), directory], run);
  }
}

/** Where apt keeps what it needs: nothing of the system is written, so no rights are needed either. */
function aptOptions(room: string, release: DebianPackages['release']): readonly string[] {
  const settings = [
    `Dir::State::lists=${room}/lists`,
    `Dir::Cache=${room}/cache`,
    'Debug::NoLocking=1',
    'APT::Sandbox::User=',
    'Acquire::Languages=none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
  ];
  if (release !== 'machine') {
    writeFileSync(join(room, 'sources.list'), `deb [signed-by=${KEYRING}] ${findMirror()} ${release} main\n`);
    settings.push(`Dir::Etc::sourcelist=${room}/sources.list`, `Dir::Etc::sourceparts=${room}/sources`);
  }
  return settings.flatMap((setting) => ['-o', setting]);
}

/** The mirror that this machine uses for its own packages. */
function findMirror(): string | undefined {
  const named = process.env[MIRROR_VARIABLE];
  if (named !== undefined) return named;
  const parts = existsSync(APT_PARTS) ? readdirSync(APT_PARTS).map((name) => join(APT_PARTS, name)) : [];
  const files = [APT_SOURCES, ...parts].filter((file) => /\.(list|sources)$/.test(file) && existsSync(file));
  const mirrors = files.map(
    (file) => /https?:\/\/\S+\/debian(?=\/?(\s|$))/m.exec(readFileSync(file, 'utf8'))?.[0],
  );
  return mirrors.find((mirror) => mirror !== undefined);
}

const APT_SOURCES = '/etc/apt/sources.list';
const APT_PARTS = '/etc/apt/sources.list.d';

function summarize(packages: readonly string[]): string {
  const rest = packages.length - 2;
  return rest > 0 ? `${packages.slice(0, 2).join(', ')} and ${rest} more` : packages.join(' and ');
}
