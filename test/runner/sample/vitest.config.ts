import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Runs the samples, which fail on purpose and so are no tests of the project. */
export default defineConfig({
  test: { root: fileURLToPath(new URL('.', import.meta.url)), include: ['*-sample.ts'], pool: 'forks' },
});
