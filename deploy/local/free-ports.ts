import { randomBytes } from 'node:crypto';
import { PARTS } from './parts/index.ts';
import { findPortHolders, PortsTaken } from './ports.ts';
import { StackError } from './stack-error.ts';
import { startStack } from './start.ts';
import type { StartedStack, StartOptions } from './start.ts';

const ATTEMPTS = 8;
const FIRST_OFFSET = 3_000;
const OFFSET_STEP = 110;
const OFFSETS = 90;

/** Starts a stack on the ports that were asked for, or on others when somebody has those. */
export async function startOnFreePorts(options: StartOptions): Promise<StartedStack> {
  let portOffset = options.portOffset;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startStack({ ...options, ...(portOffset === undefined ? {} : { portOffset }) });
    } catch (error) {
      if (!(error instanceof PortsTaken) || attempt === ATTEMPTS) throw error;
      options.progress.note(`${error.message}: taking others`);
      portOffset = findFreeOffset();
    }
  }
}

/** An offset at which every port of every part is free; below the range from which outgoing connections take theirs. */
export function findFreeOffset(): number {
  const bases = PARTS.flatMap((part) => Object.values(part.ports));
  const start = randomBytes(1).readUInt8(0) % OFFSETS;
  for (let step = 0; step < OFFSETS; step += 1) {
    const offset = FIRST_OFFSET + ((start + step) % OFFSETS) * OFFSET_STEP;
    if (findPortHolders(bases.map((port) => port + offset)).length === 0) return offset;
  }
  throw new StackError('no offset has all ports free', 'Stop other stacks first.');
}
