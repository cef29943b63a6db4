import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** How a command ended, and what it said. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const BIN = fileURLToPath(new URL('../../../bin/keelson.mjs', import.meta.url));

/** Runs `keelson` as a person would, to its end. */
export const keelson = (
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ended> => startKeelson(args, environment).ended;

/** Starts `keelson`; `out` is what it has said so far. */
export function startKeelson(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): { readonly ended: Promise<Ended>; readonly out: () => string } {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', KEELSON_HOME: '/nonexistent', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out: string[] = [];
  const err: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk.toString()));
  const ended = once(child, 'close').then(([code]: unknown[]) => ({
    code: typeof code === 'number' ? code : null,
    out: out.join(''),
    err: err.join(''),
  }));
  return { ended, out: () => out.join('') };
}
