import { posix } from 'node:path';
import { buildRootArguments, resolveTarget } from './root.ts';
import type { ReadRoot } from './root.ts';

/** A file or directory of the machine that a container sees at a path of its own. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/** All that makes the sandbox of one container. */
export interface SandboxSpec {
  readonly hostname: string;
  /** The image's root on the machine; `/` for the machine's own. */
  readonly root: string;
  readonly readRoot: ReadRoot;
  readonly mounts: readonly Mount[];
  readonly workingDir: string;
  readonly user?: number | undefined;
  readonly group?: number | undefined;
  /** Whether a user namespace is needed because the machine's user is not root. */
  readonly unprivileged: boolean;
  readonly command: readonly string[];
}

/** The file descriptors by which the sandbox tells its process id (to a pipe) and its exit code (to a file). */
export const descriptors = { status: 3, info: 4 } as const;

/**
 * The command line of bubblewrap. The program is process 1 of its own process namespace, as in a container: when
 * it ends all that it started ends, and a signal that it does not handle does nothing but SIGKILL.
 */
export function buildSandboxArguments(spec: SandboxSpec): string[] {
  const resolve = (path: string): string => resolveTarget(spec.root, spec.readRoot, path);
  const mounts = spec.mounts
    .map((mount) => ({ ...mount, target: resolve(mount.target) }))
    .sort((a, b) => (a.target < b.target ? -1 : 1));
  const workingDir = resolve(spec.workingDir);
  const targets = mounts.map((mount) => mount.target).filter((target) => !target.startsWith('/dev/'));
  const standsInMount = mounts.some((mount) => isWithin(workingDir, mount.target));
  if (!standsInMount) targets.push(workingDir);
  const separation = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--hostname', spec.hostname];
  const reports = ['--json-status-fd', String(descriptors.status), '--info-fd', String(descriptors.info)];
  const kernel = ['--ro-bind-try', '/sys', '/sys', '--proc', '/proc', ...buildDeviceArguments(spec)];
  const scratch = ['/tmp', '/run', '/var/tmp', '/root', ...(standsInMount ? [] : [workingDir])];
  return [
    ...separation,
    '--as-pid-1',
    ...reports,
    ...buildUserArguments(spec),
    ...buildRootArguments(spec.root, spec.readRoot, targets),
    ...kernel,
    ...scratch.flatMap((path) => ['--dir', path]),
    ...mounts.flatMap(({ source, target, readOnly }) => [readOnly ? '--ro-bind' : '--bind', source, target]),
    '--chdir',
    workingDir,
    '--',
    ...spec.command,
  ];
}

function buildUserArguments({ user, group, unprivileged }: SandboxSpec): string[] {
  if (user === undefined && group === undefined && !unprivileged) return [];
  return ['--unshare-user', '--uid', String(user ?? 0), '--gid', String(group ?? 0)];
}

/**
 * For a user who is not root, bubblewrap's own `/dev` costs a second user namespace inside the first (its terminals
 * need uid 0), and from there nobody can enter the container's other namespaces any more: no exec probe would
 * succeed. So that user gets the same devices without terminals.
 */
function buildDeviceArguments({ unprivileged }: SandboxSpec): string[] {
  if (!unprivileged) return ['--dev', '/dev'];
  const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);
  const streams = ['fd', 'fd/0', 'fd/1', 'fd/2'].map((name) => `/proc/self/${name}`);
  const links = ['/dev/fd', '/dev/stdin', '/dev/stdout', '/dev/stderr'];
  return [
    '--tmpfs',
    '/dev',
    ...devices.flatMap((path) => ['--dev-bind', path, path]),
    ...streams.flatMap((target, at) => ['--symlink', target, links[at] ?? '']),
    '--tmpfs',
    '/dev/shm',
  ];
}

function isWithin(path: string, directory: string): boolean {
  const relative = posix.relative(directory, path);
  return relative === '' || (!relative.startsWith('..') && !relative.startsWith('/'));
}
