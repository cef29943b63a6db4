import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { withLock } from '../lock.ts';
import type { Progress, Task } from '../progress.ts';
import { checkRoom, explainFileError, messageOf, StackError } from '../stack-error.ts';
import type { Artifact, FetchedSource, ResolvedArtifact } from './artifact.ts';

/** The directory that keeps what was fetched and built, for every stack of this user. */
export function cacheDirectory(): string {
  const { KEELSON_CACHE, XDG_CACHE_HOME } = process.env;
  return resolve(KEELSON_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'keelson'));
}

/** Finds the artifact in the cache or on the machine, or fetches it: once, whole, and checked. */
export async function resolveArtifact(
  artifact: Artifact,
  progress: Progress,
  signal: AbortSignal,
): Promise<ResolvedArtifact> {
  const present = await findArtifact(artifact);
  if (present !== undefined) return present;
  const cache = cacheDirectory();
  try {
    mkdirSync(cache, { recursive: true });
    checkRoom(cache, CACHE_BYTES, 'KEELSON_CACHE');
    const task = progress.task(`${artifact.name} ${artifact.version}`);
    const lock = join(cache, `${keyOf(artifact)}.lock`);
    const onWait = ({ pid }: { pid: number }): void =>
      task.update(`process ${pid} is fetching it already, waiting`);
    return await withLock(lock, () => fetchArtifact(artifact, cache, task, signal), onWait);
  } catch (error) {
    throw explainFileError(error, cache, 'KEELSON_CACHE');
  }
}

/** The artifact where it is already: in the cache, or installed on the machine. */
export async function findArtifact(artifact: Artifact): Promise<ResolvedArtifact | undefined> {
  const directory = join(cacheDirectory(), keyOf(artifact));
  if (isComplete(directory)) {
    return { artifact, origin: 'cache', file: (name) => join(directory, name) };
  }
  for (const source of artifact.sources) {
    if (source.kind !== 'installed') continue;
    const files = await source.locate();
    if (files !== undefined) return { artifact, origin: source.what, file: (name) => lookUp(files, name) };
  }
  return undefined;
}

/** The directory of an artifact inside the cache. */
export function keyOf(artifact: Artifact): string {
  const variant = artifact.variant === undefined ? '' : `-${artifact.variant()}`;
  return `${artifact.name}-${artifact.version}${variant}`;
}

const MANIFEST = '.keelson.json';
/** What the largest artifact takes while it is unpacked. */
const CACHE_BYTES = 500e6;

async function fetchArtifact(
  artifact: Artifact,
  cache: string,
  task: Task,
  signal: AbortSignal,
): Promise<ResolvedArtifact> {
  const directory = join(cache, keyOf(artifact));
  const resolved: ResolvedArtifact = { artifact, origin: 'cache', file: (name) => join(directory, name) };
  if (isComplete(directory)) {
    task.done('fetched by another process');
    return resolved;
  }
  const obstacles: string[] = [];
  for (const source of artifact.sources) {
    if (source.kind !== 'fetched') continue;
    const obstacle = await source.findObstacle();
    const failure =
      obstacle ?? (await tryFetch(artifact, source, directory, { cacheDirectory: cache, task, signal }));
    if (failure === undefined) {
      task.done(`from ${source.what}`);
      return resolved;
    }
    obstacles.push(`${source.what}: ${failure}`);
  }
  task.fail('cannot be had');
  throw new StackError(
    `${artifact.name} ${artifact.version} cannot be had (${obstacles.join('; ')})`,
    'Check the network, install what is missing, or put the program on PATH; "keelson doctor" lists what each part needs.',
  );
}

/** Fetches beside its final place and moves it there only when it is whole; answers why a source gave nothing. */
async function tryFetch(
  artifact: Artifact,
  source: FetchedSource,
  directory: string,
  context: { cacheDirectory: string; task: Task; signal: AbortSignal },
): Promise<string | undefined> {
  const room = mkdtempSync(join(context.cacheDirectory, `tmp-${artifact.name}-`));
  try {
    await source.fetch(room, context);
    await verifyFiles(artifact, source, room);
    const sizes = Object.fromEntries(
      Object.keys(artifact.files).map((name) => [name, statSync(join(room, name)).size]),
    );
    writeFileSync(join(room, MANIFEST), JSON.stringify({ source: source.what, sizes }));
    rmSync(directory, { recursive: true, force: true });
    renameSync(room, directory);
    return undefined;
  } catch (error) {
    context.signal.throwIfAborted();
    const explained = explainFileError(error, context.cacheDirectory, 'KEELSON_CACHE');
    if (explained instanceof StackError) {
      context.task.fail(explained.message);
      throw explained;
    }
    return messageOf(error);
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
}

async function verifyFiles(artifact: Artifact, source: FetchedSource, directory: string): Promise<void> {
  for (const [name, pin] of Object.entries(artifact.files)) {
    const file = join(directory, name);
    if (!existsSync(file)) throw new Error(`it brought no ${name}`);
    if (!('sha256' in pin)) continue;
    const sha256 = await hashFile(file);
    if (sha256 === pin.sha256) continue;
    throw new StackError(
      `${name} of ${artifact.name} ${artifact.version} from ${source.what} has the wrong checksum: sha256 ${sha256} instead of ${pin.sha256}`,
      'Do not use it: somebody changed it on the way or at its origin. Check the network and the registry, then try again.',
    );
  }
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Whether every file is there in the size that it had when it was checked. */
function isComplete(directory: string): boolean {
  const manifest = join(directory, MANIFEST);
  if (!existsSync(manifest)) return false;
  const recorded: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
  const sizes: unknown = Reflect.get(Object(recorded), 'sizes');
  return Object.entries(Object(sizes)).every(
    ([name, size]) => statSync(join(directory, name), { throwIfNoEntry: false })?.size === size,
  );
}

function lookUp(files: Readonly<Record<string, string>>, name: string): string {
  const path = files[name];
  if (path === undefined) throw new Error(`the machine's own programs do not include ${name}`);
  return path;
}
