import type { Home } from './home.ts';
import { findMarked } from './marks.ts';
import { isAlive, readMemoryBytes, readUptimeSeconds, withDescendants } from './process-table.ts';
import { contextOf, findPart, readSettings } from './settings.ts';
import { readState } from './state.ts';
import type { PartState } from './state.ts';

/** What there is to say of one part. */
export interface PartStatus {
  readonly name: string;
  readonly summary: string;
  readonly version: string;
  readonly phase: PartState['phase'] | 'lost';
  readonly reason: string | null;
  readonly addresses: Readonly<Record<string, string>>;
  readonly pid: number | null;
  readonly uptimeSeconds: number | null;
  /** Of the part and of everything that it runs. */
  readonly memoryBytes: number | null;
  readonly restarts: number;
}

/** What there is to say of a stack. */
export interface StackStatus {
  readonly home: string;
  readonly running: boolean;
  readonly healthy: boolean;
  readonly portOffset: number;
  readonly supervisor: { readonly pid: number; readonly memoryBytes: number } | null;
  readonly parts: readonly PartStatus[];
  readonly memoryBytes: number;
}

/** Looks at the stack as it is now. */
export function readStatus(home: Home): StackStatus {
  const state = readState(home);
  const settings = readSettings(home);
  const portOffset = settings?.portOffset ?? 0;
  const supervisor = state !== undefined && isAlive(state.supervisor) ? state.supervisor : null;
  const parts = (settings?.parts ?? []).map((name) =>
    readPartStatus(home, portOffset, name, state?.parts[name]),
  );
  const running = supervisor !== null || findMarked(home).length > 0;
  const supervisorBytes = supervisor === null ? 0 : readMemoryBytes(supervisor.pid);
  return {
    home: home.directory,
    running,
    healthy: supervisor !== null && parts.every(({ phase }) => phase === 'ready'),
    portOffset,
    supervisor: supervisor === null ? null : { pid: supervisor.pid, memoryBytes: supervisorBytes },
    parts,
    memoryBytes: parts.reduce((sum, part) => sum + (part.memoryBytes ?? 0), supervisorBytes),
  };
}

function readPartStatus(
  home: Home,
  portOffset: number,
  name: string,
  state: PartState | undefined,
): PartStatus {
  const part = findPart(name);
  const process = state?.process ?? null;
  const alive = process !== null && isAlive(process);
  const family = alive ? withDescendants([process]) : [];
  // A supervisor that was killed leaves its last words behind; what it said of a dead process is no longer so.
  const phase = state === undefined ? 'stopped' : state.phase === 'ready' && !alive ? 'lost' : state.phase;
  return {
    name,
    summary: part.summary,
    version: part.version,
    phase,
    reason: state?.reason ?? null,
    addresses: part.addresses(contextOf(home, portOffset, part)),
    pid: alive ? process.pid : null,
    uptimeSeconds: alive ? Math.round(readUptimeSeconds(process)) : null,
    memoryBytes: alive ? family.reduce((sum, { pid }) => sum + readMemoryBytes(pid), 0) : null,
    restarts: state?.restarts ?? 0,
  };
}
