import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { Logger } from '@temporalio/common';

const WORKFLOWS = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));
const KEPT_BUNDLES = 10;
const sdkVersion = (createRequire(import.meta.url)('@temporalio/worker/package.json') as { version: string })
  .version;

/** Bundles the workflows, or finds the bundle of the very same sources: 2 s the first time, nothing after that. */
export async function prepareBundle(
  logger: Logger,
  options: { readonly workflowsPath?: string; readonly cacheDirectory?: string } = {},
): Promise<string> {
  const workflowsPath = options.workflowsPath ?? WORKFLOWS;
  const directory = options.cacheDirectory ?? defaultCache();
  const file = join(directory, `workflows-${await hashSources(workflowsPath)}.js`);
  if (existsSync(file)) return file;
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: quiet(logger) });
  await mkdir(directory, { recursive: true });
  // Written aside and renamed, so that no other worker ever reads half of it.
  const aside = `${file}.${process.pid}`;
  await writeFile(aside, code);
  await rename(aside, file);
  await forgetOldest(directory);
  return file;
}

/** Every change of a source leaves a bundle behind: the newest few are enough to go back and forth. */
async function forgetOldest(directory: string): Promise<void> {
  const files = (await readdir(directory)).filter((name) => name.endsWith('.js'));
  const times = await Promise.all(
    files.map(async (name) => {
      const path = join(directory, name);
      // Another worker that starts now may have removed it already.
      return {
        path,
        usedMs: await stat(path).then(
          (found) => found.mtimeMs,
          () => 0,
        ),
      };
    }),
  );
  const old = times.sort((a, b) => b.usedMs - a.usedMs).slice(KEPT_BUNDLES);
  await Promise.all(old.map(({ path }) => rm(path, { force: true })));
}

/** The bundler tells at length what it did, which matters only when it fails. */
const quiet = (logger: Logger): Logger => ({
  log: (level, message, meta) => logger.log(level, message, meta),
  trace: (message, meta) => logger.trace(message, meta),
  debug: (message, meta) => logger.debug(message, meta),
  info: (message, meta) => logger.debug(message, meta),
  warn: (message, meta) => logger.warn(message, meta),
  error: (message, meta) => logger.error(message, meta),
});

function defaultCache(): string {
  const { KEELSON_CACHE, XDG_CACHE_HOME } = process.env;
  return join(KEELSON_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'keelson'), 'bundles');
}

/** Everything that can change the bundle: the sources, where they lie, and the versions of Temporal and Node. */
async function hashSources(workflowsPath: string): Promise<string> {
  const hash = createHash('sha256').update(`${sdkVersion} ${process.version} ${workflowsPath}`);
  const roots = new Set([dirname(workflowsPath), dirname(WORKFLOWS)]);
  for (const root of roots) {
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'));
    for (const path of files.map((entry) => join(entry.parentPath, entry.name)).sort())
      hash.update(`\n${relative(root, path)}\n`).update(await readFile(path));
  }
  return hash.digest('hex').slice(0, 24);
}
