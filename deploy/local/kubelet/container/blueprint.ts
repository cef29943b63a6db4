import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join, normalize } from 'node:path';
import type { Container, Pod } from '../api/objects.ts';
import type { Image } from '../config.ts';
import { expand } from '../pod/environment.ts';
import { numberOf } from '../pod/quantity.ts';
import type { VolumePlace } from '../volumes/volume-set.ts';
import { createRootReader } from './files.ts';
import type { RunFiles } from './files.ts';
import type { Mount } from './sandbox.ts';
import { buildSandboxArguments } from './sandbox.ts';

/** A container cannot be started as it is described. */
export class StartProblem extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.name = 'StartProblem';
    this.reason = reason;
  }
}

/** What the command line of a container is made from. */
export interface Blueprint {
  readonly pod: Pod;
  readonly container: Container;
  readonly image: Image;
  readonly variables: ReadonlyMap<string, string>;
  readonly place: (volume: string) => VolumePlace | undefined;
  readonly files: RunFiles;
  readonly hostsFile: string;
  readonly bwrap: string;
}

/** Room beyond the memory limit for what is reserved but not used: thread stacks and the arenas of allocators. */
const reservedBytes = 256 * 2 ** 20;

/** The whole command line that runs a container. */
export function buildCommandLine(blueprint: Blueprint): string[] {
  const { pod, container, image } = blueprint;
  const security = { ...pod.spec.securityContext, ...container.securityContext };
  const root = image.root ?? '/';
  const args = buildSandboxArguments({
    hostname: hostnameOf(pod),
    root,
    readRoot: createRootReader(root),
    mounts: listMounts(blueprint),
    workingDir: container.workingDir ?? '/',
    user: security.runAsUser,
    group: security.runAsGroup,
    unprivileged: process.getuid?.() !== 0,
    command: buildCommand(blueprint),
  });
  const memory = container.resources?.limits?.['memory'];
  if (memory === undefined) return [blueprint.bwrap, ...args];
  return ['prlimit', `--data=${Math.ceil(numberOf(memory)) + reservedBytes}`, blueprint.bwrap, ...args];
}

/** The host name of a pod's containers. */
export function hostnameOf(pod: Pod): string {
  return pod.spec.hostname ?? pod.metadata.name.slice(0, 63);
}

/** Whether a container has a user namespace, which a command in it must then enter. */
export function hasOwnUser(pod: Pod, container: Container): boolean {
  const security = { ...pod.spec.securityContext, ...container.securityContext };
  return process.getuid?.() !== 0 || security.runAsUser !== undefined || security.runAsGroup !== undefined;
}

function buildCommand({ container, image, variables }: Blueprint): string[] {
  const command = container.command?.length ? container.command : (image.entrypoint ?? []);
  const whole = [...command, ...(container.args ?? [])];
  if (whole.length === 0) throw new StartProblem('CreateContainerError', 'no command specified');
  return whole.map((word) => expand(word, variables));
}

function listMounts(blueprint: Blueprint): Mount[] {
  const { container, image, files, hostsFile } = blueprint;
  const messagePath = container.terminationMessagePath ?? '/dev/termination-log';
  return [
    ...(image.programs === undefined
      ? []
      : [{ source: image.programs, target: '/usr/local/bin', readOnly: true }]),
    { source: hostsFile, target: '/etc/hosts', readOnly: false },
    { source: files.message, target: messagePath, readOnly: false },
    ...(container.volumeMounts ?? []).map((mount) => {
      const place = blueprint.place(mount.name);
      if (place === undefined)
        throw new StartProblem('CreateContainerConfigError', `volume ${mount.name} not found`);
      const subPath = mount.subPath ?? expand(mount.subPathExpr ?? '', blueprint.variables);
      const readOnly = place.readOnly || mount.readOnly === true;
      return { source: resolveSubPath(place, subPath), target: normalize(mount.mountPath), readOnly };
    }),
  ];
}

/** A part of a volume; one that does not exist is made as a directory, as a kubelet does. */
function resolveSubPath(place: VolumePlace, subPath: string): string {
  if (subPath === '') return place.path;
  if (subPath.startsWith('/') || subPath.split('/').includes('..')) {
    throw new StartProblem('CreateContainerConfigError', `subPath ${subPath} must stay within its volume`);
  }
  const path = join(place.path, subPath);
  if (!existsSync(path)) mkdirSync(path, { recursive: true });
  const real = realpathSync(path);
  if (real.startsWith(realpathSync(place.path))) return real;
  throw new StartProblem('CreateContainerConfigError', `subPath ${subPath} leads out of its volume`);
}
