#!/usr/bin/env node
// The runtime is a dependency: whatever Node the machine has, Keelson runs on its own Node 24.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MINIMUM_MAJOR = 24;
const major = Number(process.versions.node.split('.')[0]);

if (major >= MINIMUM_MAJOR) {
  const { main } = await import('../starter/cli/main.ts');
  process.exitCode = await main(process.argv.slice(2));
} else {
  const own = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
  if (!existsSync(own)) {
    console.error(
      `keelson needs Node ${MINIMUM_MAJOR}, this is ${process.versions.node}: run "npm ci" in the project, which brings its own.`,
    );
    process.exit(1);
  }
  runInstead(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
}

/** Runs the other Node in this one's place: it gets the signals, and this one ends as it ended. */
function runInstead(program, args) {
  const child = spawn(program, args, { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both; this one only has to outlive the child. The rest is passed on.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`keelson cannot run ${program}: ${error.message}; run "npm ci" again.`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
