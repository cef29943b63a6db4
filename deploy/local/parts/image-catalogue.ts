import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Artifact } from '../cache/artifact.ts';
import { writeWhole } from '../files.ts';
import { pathOf } from '../home.ts';
import type { Image, ImageCatalogue } from '../kubelet/config.ts';
import type { PartContext } from '../part.ts';
import { systemCode } from '../stack-error.ts';
import { valkey8, valkey9, valkeyTls } from './valkey-images.ts';

/** The programs and root file systems behind the images. */
export const imageArtifacts: readonly Artifact[] = [valkey8, ...valkey9, valkeyTls];

/** A machine with nothing but its own programs, read-only: for pods that only need a shell. */
const SHELL_IMAGE = 'keelson/shell:1';

/** Tells the nodes which image name stands for which programs. */
export function writeImageCatalogue(context: PartContext): void {
  const catalogue: Record<string, Image> = { [SHELL_IMAGE]: {} };
  for (const server of [valkey8, ...valkey9]) {
    const programs = assemblePrograms(context, server);
    for (const name of [`valkey/valkey:${server.version}`, `valkey/valkey:${server.version}-alpine`]) {
      catalogue[name] = { programs, entrypoint: ['valkey-server'] };
    }
  }
  const server = context.file(valkeyTls, 'usr/bin/valkey-server');
  catalogue[`valkey/valkey:${valkeyTls.version}-tls`] = {
    root: dirname(dirname(dirname(server))),
    entrypoint: ['valkey-server'],
  };
  writeWhole(
    pathOf.images(context.home),
    `${JSON.stringify(catalogue satisfies ImageCatalogue, undefined, 2)}\n`,
  );
}

/** The directory with the server in its version, and the one client that speaks to all of them. */
function assemblePrograms(context: PartContext, server: Artifact): string {
  const directory = join(pathOf.data(context.home, 'images'), `valkey-${server.version}`);
  mkdirSync(directory, { recursive: true });
  const programs = {
    'valkey-server': context.file(server, 'valkey-server'),
    'valkey-cli': context.file(valkey8, 'valkey-cli'),
  };
  const present = new Set(readdirSync(directory));
  for (const [name, source] of Object.entries(programs))
    if (!present.has(name)) linkOrCopy(source, join(directory, name));
  return directory;
}

/** A second name costs nothing; on another file system it takes a copy. */
function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return;
    if (!existsSync(source)) throw error;
    copyFileSync(source, target);
  }
}
