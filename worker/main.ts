import { enableCompileCache } from 'node:module';

// Half of the start is compiling the clients of Kubernetes and Temporal: what was compiled once is kept.
enableCompileCache();
const [{ readConfig }, { runWorker }] = await Promise.all([import('./config.ts'), import('./run.ts')]);

try {
  await runWorker(readConfig());
} catch (error) {
  const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`keelson-worker: ${words}\n`);
  // A worker that failed may hold handles for ever, and nobody would start another one.
  process.exit(1);
}
