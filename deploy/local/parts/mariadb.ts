import { existsSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { Artifact } from '../cache/artifact.ts';
import { debianPackages } from '../cache/debian.ts';
import { pathPrograms } from '../cache/path-program.ts';
import { runTool } from '../cache/tool.ts';
import type { Part, PartContext } from '../part.ts';
import { checkTcp } from '../readiness.ts';

const SERVER = 'usr/sbin/mariadbd';
const INSTALLER = 'usr/bin/mariadb-install-db';

/** The server, and the program that makes a new data directory. */
const mariadbPackages: Artifact = {
  name: 'mariadb',
  version: '10.11',
  files: {
    [SERVER]: { verifiedBy: "Debian's signature of the release" },
    [INSTALLER]: { verifiedBy: "Debian's signature of the release" },
  },
  sources: [
    pathPrograms([SERVER, INSTALLER], { args: ['--help'], fits: /mariadb/i }),
    debianPackages({ release: 'machine', packages: ['mariadb-server-core', 'mariadb-client-core'] }),
  ],
};

/** The database of the spot agent: its own directory and socket, no service of the system. */
export const mariadb: Part = {
  name: 'mariadb',
  summary: 'the database of the spot agent',
  version: '10.11',
  starts: 'on-request',
  dependsOn: [],
  artifacts: [mariadbPackages],
  ports: { sql: 13306 },
  graceMs: 20_000,
  addresses: (context) => ({ sql: `mysql://root@127.0.0.1:${context.port('sql')}` }),
  async prepare(context) {
    mkdirSync(context.dataDirectory, { recursive: true, mode: 0o700 });
    if (existsSync(join(tables(context), 'mysql', 'global_priv.frm'))) return;
    // A root account without a password that every local user may use: nothing but loopback reaches it.
    const args = ['--auth-root-authentication-method=normal', '--skip-test-db', ...options(context)];
    await runTool(context.file(mariadbPackages, INSTALLER), ['--no-defaults', ...args], {
      env: environment(context),
    });
  },
  command: (context) => ({
    program: context.file(mariadbPackages, SERVER),
    args: [
      '--no-defaults',
      ...options(context),
      '--bind-address=127.0.0.1',
      `--port=${context.port('sql')}`,
      // Relative to the data directory: the path of a socket may not be long.
      '--socket=sql.sock',
      '--pid-file=sql.pid',
      '--skip-name-resolve',
      '--innodb-flush-log-at-trx-commit=2',
      '--innodb-buffer-pool-size=64M',
      '--performance-schema=OFF',
    ],
    env: environment(context),
  }),
  checkReady: (context) => checkTcp(context.port('sql')),
};

function options(context: PartContext): readonly string[] {
  const base = join(root(context), 'usr');
  return [`--basedir=${base}`, `--datadir=${tables(context)}`, `--user=${userInfo().username}`];
}

/** Unpacked libraries are found only when they are named; those of the system come first nowhere else. */
function environment(context: PartContext): Readonly<Record<string, string>> {
  const directory = root(context);
  return directory === '/' ? {} : { LD_LIBRARY_PATH: join(directory, 'usr/lib/x86_64-linux-gnu') };
}

function root(context: PartContext): string {
  return dirname(dirname(dirname(context.file(mariadbPackages, SERVER))));
}

function tables(context: PartContext): string {
  return join(context.dataDirectory, 'tables');
}
