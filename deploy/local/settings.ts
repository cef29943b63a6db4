import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Artifact, ResolvedArtifact } from './cache/artifact.ts';
import { keyOf } from './cache/resolve.ts';
import { writeWhole } from './files.ts';
import { pathOf } from './home.ts';
import type { Home } from './home.ts';
import type { Part, PartContext } from './part.ts';
import { PARTS } from './parts/index.ts';
import { StackError } from './stack-error.ts';

const settingsSchema = z.object({
  version: z.literal(1),
  portOffset: z.int().min(0),
  parts: z.array(z.string()),
});

/** What a stack consists of, as `up` was asked for it. */
export type Settings = Readonly<z.infer<typeof settingsSchema>>;

/** The settings that the stack in this directory was started with, if it ever was. */
export function readSettings(home: Home): Settings | undefined {
  const file = pathOf.settings(home);
  if (!existsSync(file)) return undefined;
  try {
    return settingsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new StackError(
      `${file} is damaged`,
      'Run "keelson down", which finds the processes of this stack without it and removes the file, then "keelson up".',
      { cause: error },
    );
  }
}

/** Remembers what the stack consists of. */
export function writeSettings(home: Home, settings: Settings): void {
  writeWhole(pathOf.settings(home), `${JSON.stringify(settings, undefined, 2)}\n`);
}

/** The parts by name, with all that they depend on, each after those. */
export function selectParts(names: readonly string[]): readonly Part[] {
  const wanted = new Set<string>();
  const add = (name: string): void => {
    wanted.add(name);
    findPart(name).dependsOn.forEach(add);
  };
  names.forEach(add);
  return PARTS.filter((part) => wanted.has(part.name));
}

/** The parts that start unless told otherwise. */
export function defaultParts(): readonly string[] {
  return PARTS.filter((part) => part.starts === 'always' && (part.exists?.() ?? true)).map(
    (part) => part.name,
  );
}

/** One part by its name. */
export function findPart(name: string): Part {
  const part = PARTS.find((candidate) => candidate.name === name);
  if (part !== undefined) return part;
  const known = PARTS.map((candidate) => candidate.name).join(', ');
  throw new StackError(`there is no part "${name}"`, `The parts are ${known}.`, { exitCode: 2 });
}

/** What a part may know of its stack; `artifacts` has what was resolved, by key. */
export function contextOf(
  home: Home,
  portOffset: number,
  part: Part,
  artifacts: ReadonlyMap<string, ResolvedArtifact> = new Map(),
): PartContext {
  const portOf = (of: Part, name: string): number => {
    const port = of.ports[name];
    if (port === undefined) throw new Error(`${of.name} has no port "${name}"`);
    return port + portOffset;
  };
  return {
    home,
    portOffset,
    dataDirectory: pathOf.data(home, part.name),
    port: (name) => portOf(part, name),
    portOf: (other, name) => portOf(findPart(other), name),
    file: (artifact: Artifact, name: string) => {
      const resolved = artifacts.get(keyOf(artifact));
      if (resolved === undefined)
        throw new Error(`${artifact.name} was not resolved before ${part.name} started`);
      return resolved.file(name);
    },
    kubeconfig: (component) => pathOf.kubeconfig(home, component),
  };
}
