import { existsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { filesOf, PROJECTS } from './test/projects.ts';

if (Number(process.versions.node.split('.')[0]) < 24) {
  throw new Error(`Vitest needs Node 24 here, and this is ${process.versions.node}: use "npx vitest".`);
}

const STACK_SETUP = './test/stack/global-setup.ts';

export default defineConfig({
  test: {
    // Worker threads cannot be killed alone and share native modules: a process for each file is what Temporal wants.
    pool: 'forks',
    retry: 0,
    allowOnly: false,
    projects: PROJECTS.map((project) => ({
      extends: true,
      test: {
        name: project.name,
        ...filesOf(project),
        maxWorkers: project.maxWorkers,
        testTimeout: project.testTimeoutMs,
        hookTimeout: project.testTimeoutMs,
        globalSetup: project.needsStack && existsSync(STACK_SETUP) ? [STACK_SETUP] : [],
      },
    })),
  },
});
