import { describe, expect, test } from 'vitest';
import { buildRootArguments, resolveTarget } from '../../../deploy/local/kubelet/container/root.ts';
import type { ReadRoot, RootEntry } from '../../../deploy/local/kubelet/container/root.ts';
import { buildSandboxArguments } from '../../../deploy/local/kubelet/container/sandbox.ts';
import { buildTermination } from '../../../deploy/local/kubelet/container/termination.ts';
import { container } from './pod-fixture.ts';

/** A small root: names with a slash at the end are directories, `a -> b` is a link, the rest are files. */
const tree: Readonly<Record<string, readonly string[]>> = {
  '/': ['bin -> usr/bin', 'usr/', 'etc/', 'var/', 'home/', 'proc/'],
  '/usr': ['bin/', 'local/'],
  '/usr/bin': ['sh'],
  '/usr/local': ['bin/', 'etc -> /etc'],
  '/usr/local/bin': [],
  '/etc': ['hosts', 'ssl/'],
  '/etc/ssl': [],
  '/var': ['lib/', 'run -> /run'],
  '/var/lib': [],
};

const read: ReadRoot = (path) =>
  tree[path]?.map((text): RootEntry => {
    const [name = '', target] = text.split(' -> ');
    if (target !== undefined) return { name, kind: 'link', target };
    return name.endsWith('/') ? { name: name.slice(0, -1), kind: 'directory' } : { name, kind: 'file' };
  });

function rootOf(root: string, targets: readonly string[]): string {
  return buildRootArguments(root, read, targets).join(' ');
}

describe('the root of a container', () => {
  test('shows programs and settings of the machine, and nothing else of it', () => {
    expect(rootOf('/', [])).toBe('--symlink usr/bin /bin --ro-bind /usr /usr --ro-bind /etc /etc');
  });

  test('shows all of an image with a root of its own', () => {
    expect(rootOf('/image', [])).toBe(
      '--symlink usr/bin /bin --ro-bind /image/usr /usr --ro-bind /image/etc /etc --ro-bind /image/var /var --ro-bind /image/home /home',
    );
  });

  test('stays whole where the target of a mount exists', () => {
    expect(rootOf('/', ['/etc/hosts', '/usr/local/bin'])).toBe(rootOf('/', []));
  });

  test('is assembled where the target of a mount has to be made', () => {
    expect(rootOf('/', ['/etc/app/conf'])).toBe(
      '--symlink usr/bin /bin --ro-bind /usr /usr --dir /etc --ro-bind /etc/hosts /etc/hosts --ro-bind /etc/ssl /etc/ssl',
    );
  });

  test.each([
    ['/usr/local/etc/app', '/etc/app'],
    ['/bin/sh', '/usr/bin/sh'],
    ['/data/x', '/data/x'],
    ['/', '/'],
  ])('leads from %s to %s by its links', (path, resolved) => {
    expect(resolveTarget('/', read, path)).toBe(resolved);
  });

  test('does not follow links of the machine that the container cannot see', () => {
    expect(resolveTarget('/', read, '/var/run/x')).toBe('/var/run/x');
    expect(resolveTarget('/image', read, '/var/run/x')).toBe('/run/x');
  });

  test('needs nothing for a target outside of what it shows', () => {
    expect(rootOf('/', ['/data', '/srv/a/b', '/var/lib/app'])).toBe(rootOf('/', []));
  });
});

describe('the sandbox of a container', () => {
  const spec = {
    hostname: 'web-0',
    root: '/',
    readRoot: read,
    mounts: [
      { source: '/v/inner', target: '/data/inner', readOnly: true },
      { source: '/v/data', target: '/data', readOnly: false },
    ],
    workingDir: '/work',
    unprivileged: false,
    command: ['sh', '-c', 'true'],
  };

  test('mounts outer volumes before those that stand in them', () => {
    expect(buildSandboxArguments(spec).join(' ')).toContain(
      '--bind /v/data /data --ro-bind /v/inner /data/inner',
    );
  });

  test('makes the working directory unless a volume has to bring it', () => {
    expect(buildSandboxArguments(spec).join(' ')).toContain('--dir /work');
    expect(buildSandboxArguments({ ...spec, workingDir: '/data/x' }).join(' ')).not.toContain(
      '--dir /data/x',
    );
  });

  test('takes a user namespace only for a user of its own', () => {
    expect(buildSandboxArguments(spec)).not.toContain('--unshare-user');
    expect(buildSandboxArguments({ ...spec, user: 999 }).join(' ')).toContain(
      '--unshare-user --uid 999 --gid 0',
    );
  });

  test('takes no devices for a user without rights that would cost a second user namespace', () => {
    const args = buildSandboxArguments({ ...spec, user: 999, unprivileged: true });
    expect(args).not.toContain('--dev');
    expect(args.join(' ')).toContain('--tmpfs /dev --dev-bind /dev/null /dev/null');
    expect(buildSandboxArguments(spec).join(' ')).toContain('--dev /dev');
  });

  test('ends with the command', () => {
    expect(buildSandboxArguments(spec).slice(-4)).toEqual(['--', 'sh', '-c', 'true']);
  });
});

describe('the end of a container', () => {
  const end = (exitCode: number | undefined, message: string, logTail: string, policy = 'File') =>
    buildTermination(
      container('main', { terminationMessagePolicy: policy }),
      {
        report: exitCode === undefined ? { finishedAtMs: 2_000 } : { exitCode, finishedAtMs: 2_000 },
        message,
        logTail,
      },
      1_000,
      'id',
    );

  test.each([
    ['success', end(0, '', 'log'), { exitCode: 0, reason: 'Completed' }],
    ['success with words', end(0, 'done', ''), { exitCode: 0, reason: 'Completed', message: 'done' }],
    ['failure', end(3, '', 'log'), { exitCode: 3, reason: 'Error' }],
    [
      'failure with the log for words',
      end(3, '', 'last words', 'FallbackToLogsOnError'),
      { exitCode: 3, reason: 'Error', message: 'last words' },
    ],
    [
      'failure whose own words go before the log',
      end(3, 'mine', 'log', 'FallbackToLogsOnError'),
      { exitCode: 3, reason: 'Error', message: 'mine' },
    ],
    [
      'a program that is not there',
      end(undefined, '', 'bwrap: execvp nope: No such file or directory\n'),
      { exitCode: 128, reason: 'StartError', message: 'execvp nope: No such file or directory' },
    ],
    [
      'an end that nobody saw',
      end(undefined, '', 'working'),
      {
        exitCode: 137,
        reason: 'ContainerStatusUnknown',
        message: 'The container could not be located when the pod was terminated',
      },
    ],
  ])('%s', (_name, termination, expected) => {
    expect(termination).toEqual({ ...expected, startedAtMs: 1_000, finishedAtMs: 2_000, containerId: 'id' });
  });
});
