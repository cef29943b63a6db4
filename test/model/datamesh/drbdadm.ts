import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Debian's drbd-utils, unpacked into the cache: `drbdadm -d` needs neither a kernel module nor root. */
export function fetchDrbdUtils(): string {
  const cache = process.env['KEELSON_CACHE'] ?? join(homedir(), '.cache', 'keelson');
  const folder = join(cache, 'drbd-utils');
  const program = join(folder, 'root', 'sbin', 'drbdadm');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  execFileSync('apt-get', ['download', 'drbd-utils'], { cwd: folder, stdio: 'pipe' });
  const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
  if (archive === undefined) throw new Error('apt-get downloaded no drbd-utils');
  execFileSync('dpkg', ['-x', archive, 'root'], { cwd: folder });
  return program;
}

/** The drbdsetup lines that `drbdadm adjust` would run on d1: from nothing, or from what `drbdsetup show` is made to say. */
export function adjust(
  program: string,
  folder: string,
  configuration: string,
  show: string | null,
): readonly string[] {
  const file = join(folder, 'vol.res');
  const shown = join(folder, 'vol.show');
  writeFileSync(file, configuration);
  if (show !== null) writeFileSync(shown, show);
  const output = execFileSync(program, ['-c', file, '-d', 'adjust', 'vol'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      DRBD_DRIVER_VERSION_OVERRIDE: '9.0.0',
      __DRBD_NODE__: 'd1',
      ...(show === null ? {} : { FAKE_DRBDSETUP_SHOW: shown }),
    },
  });
  return output.split('\n').flatMap((line) => /drbd(?:setup|meta) (.*)$/u.exec(line)?.[1] ?? []);
}
