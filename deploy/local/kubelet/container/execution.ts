import { spawn } from 'node:child_process';
import type { ProcessIdentity } from '../pod/record.ts';
import { isRunning, readEnvironment } from './proc.ts';

/** How a command inside a container went. */
export interface ExecResult {
  readonly ok: boolean;
  readonly output: string;
}

const outputBytes = 10_240;

/** Runs a command inside a running container, with the container's own environment and directory. */
export function runInContainer(
  target: { readonly init: ProcessIdentity; readonly sandbox: ProcessIdentity; readonly ownUser: boolean },
  command: readonly string[],
  timeoutMs: number,
): Promise<ExecResult> {
  if (!isRunning(target.init)) return Promise.resolve({ ok: false, output: 'the container does not run' });
  const user = target.ownUser ? ['-U', '--preserve-credentials'] : [];
  const args = ['-t', String(target.init.pid), ...user, '-m', '-u', '-i', '-p', '-w', '--', ...command];
  // A group of its own, so that a time-out ends the command too and not only nsenter, which waits for it.
  const child = spawn('nsenter', args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: readEnvironment(target.sandbox.pid),
  });
  const { promise, resolve } = Promise.withResolvers<ExecResult>();
  let output = '';
  const collect = (chunk: Buffer): void => {
    if (output.length < outputBytes) output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const timer = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    resolve({ ok: false, output: `command timed out after ${timeoutMs} ms: ${output}` });
  }, timeoutMs);
  child.on('error', (error) => resolve({ ok: false, output: error.message }));
  child.on('exit', (code) => {
    clearTimeout(timer);
    // Output may still be in the pipe when the process ends; a background child must not hold the answer back.
    setImmediate(() => resolve({ ok: code === 0, output: output.slice(0, outputBytes) }));
  });
  return promise;
}
