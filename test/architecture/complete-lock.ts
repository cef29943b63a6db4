import { readFileSync, writeFileSync } from 'node:fs';
import { selectMissing } from './lock-rules.ts';
import type { PlatformLock } from './lock-rules.ts';

const FILE = 'package-lock.json';

// Run after every "npm install", by "npm run lock": the binaries of other platforms must not be lost.
const lock: PlatformLock & { packages: Record<string, unknown> } = JSON.parse(readFileSync(FILE, 'utf8'));
const missing = selectMissing(lock);
const packages = Object.fromEntries(
  Object.entries({ ...lock.packages, ...missing }).sort(([a], [b]) => a.localeCompare(b, 'en')),
);
writeFileSync(FILE, `${JSON.stringify({ ...lock, packages }, undefined, 2)}\n`);
console.log(`${Object.keys(missing).length} platform packages added to ${FILE}`);
