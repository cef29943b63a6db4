import type { Artifact } from '../cache/artifact.ts';
import { debianPackages } from '../cache/debian.ts';
import { pathPrograms } from '../cache/path-program.ts';

/** The command line of Kubernetes: nothing in the stack needs it, but people and a test do. */
export const kubectl: Artifact = {
  name: 'kubectl',
  version: '1.20',
  files: { 'usr/bin/kubectl': { verifiedBy: "Debian's signature of the release" } },
  sources: [
    pathPrograms(['usr/bin/kubectl'], { args: ['version', '--client'], fits: /v1\.\d+/ }),
    debianPackages({ release: 'machine', packages: ['kubernetes-client'] }),
  ],
};
