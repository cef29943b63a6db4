import type { ValkeyNode } from './observation.ts';
import type { ValkeyTopology } from './topology.ts';

/** The change with which slots that somebody left open are closed; what was decided before it stays decided. */
export const CLOSES_SLOTS = 'valkey-closes-slots';

/** A slot that somebody began to move and left: its owner, and who was to get it, where both know of it. */
export interface OpenSlot {
  readonly slot: number;
  readonly owner: ValkeyNode;
  readonly heir: ValkeyNode | null;
}

/** The slots that were left open between nodes that are all there to close them. */
export function openSlots({ nodes }: ValkeyTopology): readonly OpenSlot[] {
  const open = nodes.flatMap((node) => (node.openSlots ?? []).map((one) => ({ node, ...one })));
  const slots = [...new Set(open.map(({ slot }) => slot))].toSorted((a, b) => a - b);
  return slots.flatMap((slot): OpenSlot[] => {
    const ends = open.filter((one) => one.slot === slot);
    const owner = nodes.find((node) => serves(node, slot));
    if (owner === undefined || !owner.ready || ends.some(({ node }) => !node.ready)) return [];
    const given = ends.find(({ node, direction }) => node === owner && direction === 'migrating');
    const heir = ends.find(({ node, direction }) => direction === 'importing' && node.id === given?.peer);
    return [{ slot, owner, heir: heir?.node ?? null }];
  });
}

const serves = (node: ValkeyNode, slot: number): boolean =>
  node.role === 'master' && node.slots.some(([first, last]) => first <= slot && slot <= last);
