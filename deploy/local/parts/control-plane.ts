import { fileURLToPath } from 'node:url';
import type { Artifact } from '../cache/artifact.ts';
import { goBuild, hashGoModule } from '../cache/go-build.ts';

const KUBERNETES_VERSION = '1.36.3';
const DIRECTORY = fileURLToPath(new URL('../control-plane', import.meta.url));
const STAMP = 'k8s.io/component-base/version';

/** etcd, API server, controllers and scheduler in one program, chosen by its first argument. */
export const controlPlane: Artifact = {
  name: 'kubernetes',
  version: KUBERNETES_VERSION,
  variant: () => hashGoModule(DIRECTORY),
  files: { 'control-plane': { verifiedBy: 'go.sum pins every module that it is built from' } },
  sources: [
    goBuild({
      directory: DIRECTORY,
      program: 'control-plane',
      minimum: [1, 26],
      linkerFlags: [
        '-s',
        '-w',
        `-X ${STAMP}.gitVersion=v${KUBERNETES_VERSION}`,
        `-X ${STAMP}.gitMajor=1`,
        `-X ${STAMP}.gitMinor=36`,
        `-X ${STAMP}.gitCommit=embedded`,
        `-X ${STAMP}.gitTreeState=clean`,
      ],
    }),
  ],
};

export { KUBERNETES_VERSION };
