import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Artifact } from './cache/artifact.ts';
import { cacheDirectory, findArtifact, keyOf } from './cache/resolve.ts';
import { findOnPath } from './cache/tool.ts';
import { defaultHomeDirectory } from './home.ts';
import type { Part } from './part.ts';
import { chromium } from './parts/chromium.ts';
import { PARTS } from './parts/index.ts';
import { kubectl } from './parts/kubectl.ts';

/** One thing that the doctor looked at. */
export interface Finding {
  readonly what: string;
  /** `absent` is no trouble: it is fetched when it is needed. */
  readonly state: 'present' | 'absent' | 'missing';
  /** Where it is, where it would come from, or what to do. */
  readonly detail: string;
  readonly neededBy: readonly string[];
}

const ROOM_NEEDED_BYTES = 4e9;

/** Programs that are part of every Debian system, so that nothing fetches them. */
const TOOLS = [
  { program: 'nsenter', neededBy: 'nodes (probes and hooks that run a command)' },
  { program: 'prlimit', neededBy: 'nodes (memory limits)' },
] as const;

/** Looks at everything that the stack needs on this machine; it fetches and changes nothing. */
export async function examine(): Promise<readonly Finding[]> {
  const users = new Map<string, { artifact: Artifact; parts: Part[] }>();
  for (const part of PARTS.filter(({ exists }) => exists?.() ?? true)) {
    for (const artifact of part.artifacts) {
      const entry = users.get(keyOf(artifact)) ?? { artifact, parts: [] };
      entry.parts.push(part);
      users.set(keyOf(artifact), entry);
    }
  }
  const artifacts = [...users.values()].map(({ artifact, parts }) =>
    examineArtifact(artifact, parts.map(describeUser)),
  );
  return [
    examinePlatform(),
    ...TOOLS.map(examineTool),
    examineDirectory('cache', cacheDirectory(), 'KEELSON_CACHE'),
    examineDirectory('home', defaultHomeDirectory(), 'KEELSON_HOME'),
    ...(await Promise.all([
      ...artifacts,
      examineArtifact(kubectl, ['people']),
      examineArtifact(chromium, ['tests of the Web UI']),
    ])),
  ];
}

async function examineArtifact(artifact: Artifact, neededBy: readonly string[]): Promise<Finding> {
  const what = `${artifact.name} ${artifact.version}`;
  const found = await findArtifact(artifact);
  const [file = ''] = Object.keys(artifact.files);
  if (found !== undefined) return { what, state: 'present', detail: found.file(file), neededBy };
  const obstacles: string[] = [];
  for (const source of artifact.sources) {
    if (source.kind !== 'fetched') continue;
    const obstacle = await source.findObstacle();
    if (obstacle === undefined)
      return { what, state: 'absent', detail: `will come from ${source.what}`, neededBy };
    obstacles.push(obstacle);
  }
  return {
    what,
    state: 'missing',
    detail: `${obstacles.join('; ')}: install that, or put it on PATH`,
    neededBy,
  };
}

function examinePlatform(): Finding {
  const what = `${process.platform} ${process.arch}`;
  const fits = process.platform === 'linux' && process.arch === 'x64';
  const detail = fits ? 'supported' : 'the stack runs on Linux on x86-64 only';
  return { what, state: fits ? 'present' : 'missing', detail, neededBy: ['everything'] };
}

function examineTool({ program, neededBy }: (typeof TOOLS)[number]): Finding {
  const found = findOnPath(program);
  const detail = found ?? 'install it (Debian: util-linux), or put it on PATH';
  return { what: program, state: found === undefined ? 'missing' : 'present', detail, neededBy: [neededBy] };
}

function examineDirectory(what: string, directory: string, setting: string): Finding {
  const neededBy = ['everything'];
  let existing = directory;
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    accessSync(existing, constants.W_OK);
  } catch {
    return {
      what,
      state: 'missing',
      detail: `${directory} may not be written to: set ${setting} to another directory`,
      neededBy,
    };
  }
  const { bavail, bsize } = statfsSync(existing);
  const room = bavail * bsize;
  if (room >= ROOM_NEEDED_BYTES) return { what, state: 'present', detail: directory, neededBy };
  const detail = `${directory} has ${Math.round(room / 1e6)} MB left: free up to ${ROOM_NEEDED_BYTES / 1e9} GB, or set ${setting}`;
  return { what, state: 'missing', detail, neededBy };
}

function describeUser(part: Part): string {
  return part.starts === 'always' ? part.name : `${part.name} (on request)`;
}
