import type { Violation } from './source-tree.ts';

/** A package in `package-lock.json`, as far as it matters here. */
interface LockEntry {
  readonly version?: string;
  readonly cpu?: readonly string[];
  readonly dev?: boolean;
  readonly libc?: readonly string[];
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** `package-lock.json`, as far as it matters here. */
export interface PlatformLock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

const SYSTEMS: ReadonlySet<string> = new Set([
  'android',
  'darwin',
  'freebsd',
  'linux',
  'openharmony',
  'win32',
]);
const PROCESSORS: ReadonlySet<string> = new Set([
  'arm',
  'arm64',
  'ia32',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
]);

/**
 * The binaries for other platforms that the lock does not have. A registry that carries only some platforms makes
 * `npm install` leave the others out, and `npm ci` then refuses the lock.
 */
export function selectMissing(lock: PlatformLock): Readonly<Record<string, LockEntry>> {
  const missing = Object.entries(lock.packages).flatMap(([path, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => !isLocked(lock, path, name))
      .map(([name, version]) => [`node_modules/${name}`, buildEntry(name, version, entry.dev)] as const),
  );
  return Object.fromEntries(missing);
}

/** The same as a rule. */
export const checkPlatforms = (lock: PlatformLock): readonly Violation[] =>
  Object.keys(selectMissing(lock)).map((at) => ({ at, message: 'not in package-lock.json: "npm run lock"' }));

/** Node looks for a package beside the one that needs it, and then further up. */
function isLocked(lock: PlatformLock, path: string, name: string): boolean {
  const cuts = [...path.matchAll(/\/node_modules\//g)].map((match) => path.slice(0, match.index));
  return [path, ...cuts, '']
    .map((base) => `${base === '' ? '' : `${base}/`}node_modules/${name}`)
    .some((candidate) => candidate in lock.packages);
}

/** What npm would have written, without the checksum, which only the registry knows. */
function buildEntry(name: string, version: string, dev: boolean | undefined): LockEntry {
  const words = (name.split('/').at(-1) ?? name).split('-');
  const os = words.filter((word) => SYSTEMS.has(word));
  const cpu = words.filter((word) => PROCESSORS.has(word));
  const musl = words.some((word) => word.startsWith('musl'));
  const gnu = words.some((word) => word.startsWith('gnu'));
  return {
    version,
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(dev === true ? { dev } : {}),
    ...(musl || gnu ? { libc: [musl ? 'musl' : 'glibc'] } : {}),
    optional: true,
    ...(os.length > 0 ? { os } : {}),
  };
}
