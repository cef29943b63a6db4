import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
}

const MIRROR_VARIABLE = 'KEELSON_DEBIAN_MIRROR';
const MIRROR = 'http://deb.debian.org/debian';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Fetches packages with lists, cache and sources of their own, and unpacks them below the artifact's directory. */
export function debianPackages(wanted: DebianPackages): FetchedSource {
  const release = wanted.release === 'machine' ? "this machine's release" : wanted.release;
  return {
    kind: 'fetched',
    what: `the Debian packages ${summarize(wanted.packages)} of ${release}`,
    async findObstacle() {
      const missing = ['apt-get', 'dpkg-deb'].find((tool) => findOnPath(tool) === undefined);
      return missing === undefined ? undefined : `${missing} is not on PATH (this machine is not a Debian)`;
    },
    async fetch(directory, context) {
      const room = mkdtempSync(join(context.cacheDirectory, 'tmp-apt-'));
      try {
        await unpackInto(directory, room, wanted, context);
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
  writeFileSync(join(room, 'sources.list'), sourcesList(wanted.release));
  const options = aptOptions(room);
  const run = { signal: context.signal, cwd: archives };
  context.task.update('reading the package lists');
  await runTool('apt-get', [...options, '-qq', 'update'], run);
  context.task.update(`fetching ${summarize(wanted.packages)}`);
  const verb =
    wanted.release === 'machine'
      ? ['install', '--yes', '--download-only', '--no-install-recommends', ...wanted.packages]
      : ['download', ...wanted.packages];
  await runTool('apt-get', [...options, '-qq', ...verb], run);
  for (const name of readdirSync(archives).filter((name) => name.endsWith('.deb'))) {
    await runTool('dpkg-deb', ['-x', join(archives, name), directory], run);
  }
}

/** Where apt keeps what it needs: nothing of the system is written, so no rights are needed either. */
function aptOptions(room: string): readonly string[] {
  const settings = [
    `Dir::Etc::sourcelist=${room}/sources.list`,
    `Dir::Etc::sourceparts=${room}/sources`,
    `Dir::State::lists=${room}/lists`,
    `Dir::Cache=${room}/cache`,
    'Debug::NoLocking=1',
    'APT::Sandbox::User=',
    'Acquire::Languages=none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
  ];
  return settings.flatMap((setting) => ['-o', setting]);
}

function sourcesList(release: DebianPackages['release']): string {
  const mirror = process.env[MIRROR_VARIABLE] ?? MIRROR;
  const name = release === 'machine' ? machineRelease() : release;
  const line = (suite: string, base = mirror): string => `deb [signed-by=${KEYRING}] ${base} ${suite} main`;
  if (release !== 'machine') return `${line(name)}\n`;
  const security = mirror.replace(/debian\/?$/, 'debian-security');
  return `${line(name)}\n${line(`${name}-updates`)}\n${line(`${name}-security`, security)}\n`;
}

function machineRelease(): string {
  const codename = /^VERSION_CODENAME=(.+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  if (codename === undefined)
    throw new Error('the release of this machine is not known (/etc/os-release has no code name)');
  return codename.replaceAll('"', '');
}

function summarize(packages: readonly string[]): string {
  const rest = packages.length - 2;
  return rest > 0 ? `${packages.slice(0, 2).join(', ')} and ${rest} more` : packages.join(' and ');
}
