import type { KubernetesClient } from '../kubernetes/client.ts';
import { isForbidden } from '../kubernetes/errors.ts';

const ZONE_LABEL = 'topology.kubernetes.io/zone';
const KEPT_FOR_MS = 60_000;

/** Reads the zones of nodes; a node does not move, so each is kept for a while. */
export function createZoneReader(
  kubernetes: Pick<KubernetesClient, 'read'>,
): (nodes: readonly string[]) => Promise<Readonly<Record<string, string>>> {
  const kept = new Map<string, { readonly zone: string | null; readonly readAtMs: number }>();

  async function read(name: string): Promise<string | null> {
    const before = kept.get(name);
    if (before !== undefined && Date.now() - before.readAtMs < KEPT_FOR_MS) return before.zone;
    const zone = await readZone(kubernetes, name);
    kept.set(name, { zone, readAtMs: Date.now() });
    return zone;
  }

  return async (nodes) => {
    const zones = await Promise.all(
      [...new Set(nodes)].map(async (name): Promise<[string, string][]> => {
        const zone = await read(name);
        return zone === null ? [] : [[name, zone]];
      }),
    );
    return Object.fromEntries(zones.flat());
  };
}

/** Without the right to look at nodes there are no zones to tell apart. */
async function readZone(kubernetes: Pick<KubernetesClient, 'read'>, name: string): Promise<string | null> {
  try {
    const node = await kubernetes.read({ apiVersion: 'v1', kind: 'Node', namespace: '', name });
    return node?.metadata.labels?.[ZONE_LABEL] ?? null;
  } catch (error) {
    if (isForbidden(error)) return null;
    throw error;
  }
}
