import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Home } from './home.ts';
import { findMarked } from './marks.ts';
import type { Part } from './part.ts';
import { findSocketHolders, readCommandLine } from './process-table.ts';
import { StackError } from './stack-error.ts';

/** Somebody who listens on a port that a part needs. */
export interface PortHolder {
  readonly port: number;
  /** Absent when the process belongs to another user and cannot be looked into. */
  readonly pid?: number;
  readonly program?: string;
}

const LISTENING = '0A';

/** Who listens on one of these ports, on an address that a part on 127.0.0.1 would collide with. */
export function findPortHolders(ports: readonly number[]): readonly PortHolder[] {
  const sockets = [...readSockets('/proc/net/tcp'), ...readSockets('/proc/net/tcp6')].filter(({ port }) =>
    ports.includes(port),
  );
  const seen = new Set<number>();
  return sockets.flatMap(({ port, inode }) => {
    if (seen.has(port)) return [];
    seen.add(port);
    const pid = findSocketHolders(new Set([inode]))[0];
    return [
      pid === undefined ? { port } : { port, pid, program: readCommandLine(pid).join(' ').slice(0, 80) },
    ];
  });
}

/** Refuses to start parts whose ports somebody else has; what this stack itself started is not somebody else. */
export async function checkPorts(home: Home, parts: readonly Part[], portOffset: number): Promise<void> {
  const owners = new Map<number, string>();
  for (const part of parts)
    for (const [name, port] of Object.entries(part.ports))
      owners.set(port + portOffset, `${part.name} (${name})`);
  const tooHigh = [...owners.keys()].find((port) => port > 65_535);
  if (tooHigh !== undefined) {
    throw new StackError(`port ${tooHigh} does not exist`, 'Choose a smaller --port-offset.', {
      exitCode: 2,
    });
  }
  const strangers = await findStrangers(home, [...owners.keys()]);
  if (strangers.length === 0) return;
  const list = strangers.map(
    (holder) => `${holder.port} for ${owners.get(holder.port)} by ${describe(holder)}`,
  );
  throw new PortsTaken(`${strangers.length === 1 ? 'a port is' : 'ports are'} taken: ${list.join('; ')}`);
}

const DYING_MS = 3_000;
const POLL_MS = 50;

/** A killed process keeps its sockets for a moment in which they belong to nobody: that moment is waited for. */
async function findStrangers(home: Home, ports: readonly number[]): Promise<readonly PortHolder[]> {
  const deadline = Date.now() + DYING_MS;
  for (;;) {
    const own = new Set(findMarked(home).map(({ pid }) => pid));
    const strangers = findPortHolders(ports).filter(({ pid }) => pid === undefined || !own.has(pid));
    if (strangers.every(({ pid }) => pid !== undefined) || Date.now() > deadline) return strangers;
    await delay(POLL_MS);
  }
}

/** Somebody else listens where a part would have to. */
export class PortsTaken extends StackError {
  constructor(message: string) {
    super(message, 'End that process, or choose other ports with --port-offset N (100, 200, …).');
  }
}

function describe({ pid, program }: PortHolder): string {
  return pid === undefined ? "another user's process" : `process ${pid} (${program})`;
}

function readSockets(file: string): readonly { port: number; inode: string }[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === LISTENING && reaches(fields[1] ?? ''))
    .map((fields) => ({ port: Number.parseInt(fields[1]?.split(':')[1] ?? '', 16), inode: fields[9] ?? '' }));
}

/** Another loopback address does not collide; 127.0.0.1 and the wildcards do. The kernel writes addresses byte-swapped. */
function reaches(address: string): boolean {
  const host = address.split(':')[0] ?? '';
  return host === '0100007F' || /^0+$/.test(host) || host.endsWith('FFFF00000100007F');
}
