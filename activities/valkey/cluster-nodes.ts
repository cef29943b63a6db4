import type { SlotRange } from '../../workflows/valkey-cluster/domain/observation.ts';
import { joinRanges } from './slots.ts';

/** A slot that a node imports from, or gives away to, a peer; shown by the node itself only. */
export interface OpenSlot {
  readonly slot: number;
  readonly direction: 'importing' | 'migrating';
  readonly peer: string;
}

/** One line of `CLUSTER NODES`: what one node believes of another. */
export interface ClusterNode {
  readonly id: string;
  readonly ip: string;
  readonly port: number;
  readonly hostname: string | null;
  readonly myself: boolean;
  readonly role: 'master' | 'replica' | 'unknown';
  readonly masterId: string | null;
  /** It has not introduced itself yet, and its id will change. */
  readonly handshake: boolean;
  readonly noAddress: boolean;
  /** `fail?` is one node's suspicion, `fail` the majority's verdict. */
  readonly failing: 'no' | 'suspected' | 'failed';
  readonly configEpoch: number;
  readonly connected: boolean;
  readonly slots: readonly SlotRange[];
  readonly openSlots: readonly OpenSlot[];
}

/** Reads `CLUSTER NODES` of Valkey 8 and 9 (and Redis 7): one node per line, the open slots in brackets. */
export const parseClusterNodes = (text: string): readonly ClusterNode[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map(parseLine);

function parseLine(line: string): ClusterNode {
  const [id, address, flagList, master, , , epoch, link, ...slots] = line.split(' ');
  if (id === undefined || address === undefined || flagList === undefined || link === undefined)
    throw new Error(`this is no line of CLUSTER NODES: ${line}`);
  const flags = new Set(flagList.split(','));
  return {
    id,
    ...parseAddress(address),
    myself: flags.has('myself'),
    role: roleOf(flags),
    masterId: master === undefined || master === '-' ? null : master,
    handshake: flags.has('handshake'),
    noAddress: flags.has('noaddr'),
    failing: flags.has('fail') ? 'failed' : flags.has('fail?') ? 'suspected' : 'no',
    configEpoch: Number(epoch),
    connected: link === 'connected',
    slots: joinRanges(slots.filter((slot) => !slot.startsWith('[')).map(parseRange)),
    openSlots: slots.filter((slot) => slot.startsWith('[')).map(parseOpenSlot),
  };
}

function roleOf(flags: ReadonlySet<string>): ClusterNode['role'] {
  if (flags.has('master') || flags.has('primary')) return 'master';
  return flags.has('slave') || flags.has('replica') ? 'replica' : 'unknown';
}

/** `10.0.0.5:6379@16379,hostname,aux=…`; an IPv6 address has colons itself, and a node without address has none. */
function parseAddress(address: string): Pick<ClusterNode, 'ip' | 'port' | 'hostname'> {
  const [endpoint = '', hostname = ''] = address.split(',');
  const client = endpoint.split('@')[0] ?? '';
  const colon = client.lastIndexOf(':');
  return {
    ip: client.slice(0, Math.max(colon, 0)).replace(/^\[|\]$/g, ''),
    port: Number(client.slice(colon + 1)),
    hostname: hostname === '' || hostname.includes('=') ? null : hostname,
  };
}

function parseRange(text: string): SlotRange {
  const [first, last] = text.split('-').map(Number);
  if (first === undefined || !Number.isInteger(first)) throw new Error(`this is no range of slots: ${text}`);
  return [first, last ?? first];
}

function parseOpenSlot(text: string): OpenSlot {
  const match = /^\[(\d+)-([<>])-([0-9a-f]+)\]$/.exec(text);
  if (match === null) throw new Error(`this is no open slot: ${text}`);
  return {
    slot: Number(match[1]),
    direction: match[2] === '<' ? 'importing' : 'migrating',
    peer: match[3] ?? '',
  };
}
