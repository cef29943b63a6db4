import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';

/** What a tool wrote, once it has ended well. */
export interface ToolOutput {
  readonly stdout: string;
  readonly stderr: string;
}

/** How a tool is run. */
export interface ToolOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
}

/** Runs a program to its end; one that fails is an error with the last lines that it wrote. */
export async function runTool(
  program: string,
  args: readonly string[],
  options: ToolOptions = {},
): Promise<ToolOutput> {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  if (options.onLine !== undefined) {
    createInterface({ input: child.stdout }).on('line', options.onLine);
    createInterface({ input: child.stderr }).on('line', options.onLine);
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw toolError(`${program} ${args[0] ?? ''} failed: ${lastLines(stderr || stdout)}`);
  return { stdout, stderr };
}

/** The absolute path of a program on `PATH`, also where only administrators look. */
export function findOnPath(program: string): string | undefined {
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return directories.map((directory) => join(directory, program)).find(isProgram);
}

/** Whether the file is there and may be run. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // Absent, or not ours to run.
  }
}

/** A tool that met a full disk says so in its own words only. */
function toolError(message: string): Error {
  const full = message.includes('No space left on device');
  return Object.assign(new Error(message), full ? { code: 'ENOSPC' } : {});
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-4).join(' | ').slice(-600);
}
