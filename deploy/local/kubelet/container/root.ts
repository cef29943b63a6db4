import { posix } from 'node:path';

/** One name in a directory of an image's root. */
export interface RootEntry {
  readonly name: string;
  readonly kind: 'directory' | 'file' | 'link';
  /** Where a link leads. */
  readonly target?: string;
}

/** Reads a directory of an image's root; undefined when it is not a directory. */
export type ReadRoot = (path: string) => readonly RootEntry[] | undefined;

/** Top-level names that a sandbox makes itself, and so never takes from the image. */
const ownDirectories = new Set(['proc', 'dev', 'sys', 'tmp', 'run', 'lost+found']);
/** What of the machine's own root a container sees; all else of the machine stays hidden. */
const machineDirectories = new Set(['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'etc', 'opt']);

/**
 * Arguments that show an image's root read-only at `/`. A mount needs a target to stand on and none can be made
 * in a read-only directory, so each directory on the way to a target that the image does not have is
 * assembled anew from its entries.
 */
export function buildRootArguments(
  root: string,
  read: ReadRoot,
  targets: readonly string[],
): readonly string[] {
  const opened = new Set(['/']);
  for (const target of targets) openWay(root, read, target, opened);
  const args: string[] = [];
  for (const directory of [...opened].sort()) {
    if (directory !== '/') args.push('--dir', directory);
    for (const entry of read(directory) ?? []) {
      const path = posix.join(directory, entry.name);
      if (opened.has(path) || (directory === '/' && !isShown(root, entry.name))) continue;
      if (entry.kind === 'link') args.push('--symlink', entry.target ?? '', path);
      else args.push('--ro-bind', posix.join(root, path), path);
    }
  }
  return args;
}

function isShown(root: string, name: string): boolean {
  return root === '/' ? machineDirectories.has(name) : !ownDirectories.has(name);
}

/** Marks the directories above a target that must be assembled, if the image does not have the target itself. */
function openWay(root: string, read: ReadRoot, target: string, opened: Set<string>): void {
  const names = target.split('/').filter((name) => name !== '');
  if (!isShown(root, names[0] ?? '')) return;
  const way: string[] = [];
  let path = '/';
  for (const name of names) {
    const entry = read(path)?.find((each) => each.name === name);
    if (entry === undefined) {
      for (const directory of way) opened.add(directory);
      return;
    }
    path = posix.join(path, name);
    if (entry.kind === 'directory') way.push(path);
  }
}

/** Where a path of the container really is: links are followed here, because bubblewrap would follow them outside. */
export function resolveTarget(root: string, read: ReadRoot, target: string): string {
  let names = target.split('/').filter((name) => name !== '');
  let path = '/';
  for (let hops = 0; names.length > 0 && hops < 64; hops += 1) {
    const [name = '', ...rest] = names;
    if (path === '/' && !isShown(root, name)) return posix.join('/', ...names);
    const entry = read(path)?.find((each) => each.name === name);
    if (entry?.kind === 'link') {
      const resolved = posix.resolve(path, entry.target ?? '');
      names = [...resolved.split('/').filter((each) => each !== ''), ...rest];
      path = '/';
    } else {
      path = posix.join(path, name);
      names = rest;
    }
  }
  return path;
}
