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
  for (const target of targets) openWay(read, target, opened);
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

/** Marks the directories above a target that must be assembled; links on the way are followed within the root. */
function openWay(read: ReadRoot, target: string, opened: Set<string>): void {
  const way: string[] = [];
  let path = '/';
  let names = target.split('/').filter((name) => name !== '');
  for (let hops = 0; names.length > 0 && hops < 64; hops += 1) {
    const entry = read(path)?.find((each) => each.name === names[0]);
    if (entry === undefined) {
      for (const directory of way) opened.add(directory);
      return;
    }
    if (entry.kind === 'link') {
      const resolved = posix.resolve(path, entry.target ?? '');
      names = [...resolved.split('/').filter((name) => name !== ''), ...names.slice(1)];
      path = '/';
      way.length = 0;
      continue;
    }
    path = posix.join(path, entry.name);
    names = names.slice(1);
    if (entry.kind === 'directory') way.push(path);
  }
}
