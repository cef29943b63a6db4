import { readFileSync } from 'node:fs';
import { writeFileAtomically } from './disk.ts';

const lastPerBlock = 254;
const blocks = 255;

/**
 * Gives each pod an address of its own from `127.<octet>.1.1` upwards. The place where it left off is on disk,
 * so that an address comes back only after all others have been used: a stale reader never meets a new pod.
 */
export class AddressBook {
  private readonly octet: number;
  private readonly file: string;
  private readonly inUse = new Set<string>();
  private cursor: number;

  constructor(octet: number, file: string) {
    this.octet = octet;
    this.file = file;
    this.cursor = readCursor(file);
  }

  /** The address of the node with this index; the block 0 is theirs. */
  nodeAddress(index: number): string {
    return `127.${this.octet}.0.${index + 1}`;
  }

  /** Takes an address that is recorded for a pod which still exists. */
  reserve(address: string): void {
    this.inUse.add(address);
  }

  /** The next address that no pod has. */
  allocate(): string {
    for (let tries = 0; tries < blocks * lastPerBlock; tries += 1) {
      const address = formatAddress(this.octet, this.cursor);
      this.cursor = (this.cursor + 1) % (blocks * lastPerBlock);
      if (this.inUse.has(address)) continue;
      this.inUse.add(address);
      writeFileAtomically(this.file, String(this.cursor));
      return address;
    }
    throw new Error(`all pod addresses of 127.${this.octet}.0.0/16 are in use`);
  }

  /** Gives an address back when its pod is gone. */
  release(address: string): void {
    this.inUse.delete(address);
  }
}

/** The address at a place of the cycle. */
export function formatAddress(octet: number, place: number): string {
  return `127.${octet}.${Math.floor(place / lastPerBlock) + 1}.${(place % lastPerBlock) + 1}`;
}

function readCursor(file: string): number {
  try {
    const cursor = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(cursor) && cursor >= 0 && cursor < blocks * lastPerBlock ? cursor : 0;
  } catch {
    return 0;
  }
}
