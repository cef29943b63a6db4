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
  {
    name: 'plan',
    summary: 'show what would be done, why, and what blocks it',
    load: () => import('./commands/plan.ts'),
  },
  { name: 'explain', summary: 'say why something is blocked', load: () => import('./commands/explain.ts') },
  {
    name: 'start',
    summary: 'start or wake the workflow of a resource',
    load: () => import('./commands/start.ts'),
  },
  { name: 'watch', summary: 'watch an operation while it runs', load: () => import('./commands/watch.ts') },
  { name: 'describe', summary: 'show all about one resource', load: () => import('./commands/describe.ts') },
  {
    name: 'list',
    summary: 'list the resources that are looked after',
    load: () => import('./commands/list.ts'),
  },
  { name: 'approve', summary: 'approve a plan by its hash', load: () => import('./commands/approve.ts') },
  {
    name: 'pause',
    summary: 'hold a resource at its next safe point',
    load: () => import('./commands/pause.ts'),
  },
  { name: 'resume', summary: 'go on after a pause', load: () => import('./commands/resume.ts') },
  {
    name: 'cancel',
    summary: 'stop a running operation, and undo what can be undone',
    load: () => import('./commands/cancel.ts'),
  },
  {
    name: 'skip-shard',
    summary: 'leave a shard out of the running upgrade',
    load: () => import('./commands/skip-shard.ts'),
  },
  { name: 'retry', summary: 'try again now what has failed', load: () => import('./commands/retry.ts') },
  {
    name: 'rebalance',
    summary: 'level the slots of a Valkey cluster once',
    load: () => import('./commands/rebalance.ts'),
  },
  {
    name: 'db',
    summary: 'look after the database of the spot agents',
    load: () => import('./commands/db.ts'),
  },
  {
    name: 'spot',
    summary: 'look after the clients of the spot agents',
    load: () => import('./commands/spot.ts'),
  },
  {
    name: 'completion',
    summary: 'print the completion script for a shell',
    load: () => import('./commands/completion.ts'),
  },
];
