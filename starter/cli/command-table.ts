import type { Command } from 'commander';

/** One verb of `keelson`. Its module is imported only when the verb is used, so that every other one starts fast. */
export interface CommandRow {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<{ command: () => Command }>;
}

/** Every verb, in the order in which the help shows them. */
export const COMMANDS: readonly CommandRow[] = [
  { name: 'up', summary: 'start the embedded stack', load: () => import('./commands/up.ts') },
  { name: 'down', summary: 'stop the embedded stack', load: () => import('./commands/down.ts') },
  {
    name: 'status',
    summary: 'show what runs, where, and how much it takes',
    load: () => import('./commands/status.ts'),
  },
  { name: 'logs', summary: 'show what a part has written', load: () => import('./commands/logs.ts') },
  {
    name: 'doctor',
    summary: 'say what is missing for what, and how to get it',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'demo',
    summary: 'show every lifecycle on a stack of its own',
    load: () => import('./commands/demo.ts'),
  },
];
