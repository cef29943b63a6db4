#!/usr/bin/env node
// The runtime is a dependency: whatever Node the machine has, Keelson runs on its own Node 24.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MINIMUM_MAJOR = 24;
const major = Number(process.versions.node.split('.')[0]);

if (major >= MINIMUM_MAJOR) {
  const { main } = await import('../starter/cli/main.ts');
  await main(process.argv.slice(2));
} else {
  const own = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
  if (!existsSync(own)) {
    console.error(
      `keelson needs Node ${MINIMUM_MAJOR}, this is ${process.versions.node}: run "npm ci" in the project, which brings its own.`,
    );
    process.exit(1);
  }
  const child = spawnSync(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exit(child.status ?? 1);
}
