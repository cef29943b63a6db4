import { parseClusterNodes, type ClusterNode } from '../../../activities/valkey/cluster-nodes.ts';
import type { ValkeyAccess, ValkeyServer } from '../../../activities/valkey/contract.ts';
import type { SlotRange } from '../../../workflows/valkey-cluster/domain/observation.ts';
import type { ValkeyStage } from './stage.ts';

/** Where the acts of one test happen. */
interface Scene {
  readonly stage: ValkeyStage;
  readonly access: ValkeyAccess;
}

/** The short acts that most stories are made of; the scene is asked for each time, since every test opens its own. */
export function actsOn(scene: () => Scene) {
  const command = (server: ValkeyServer, ...words: readonly string[]) =>
    scene().stage.command(server, ...words);
  const nodes = async (server: ValkeyServer): Promise<readonly ClusterNode[]> =>
    parseClusterNodes(await command(server, 'CLUSTER', 'NODES'));
  return {
    nodes,
    async self(server: ValkeyServer): Promise<ClusterNode> {
      const found = (await nodes(server)).find((node) => node.myself);
      if (found === undefined) throw new Error(`${server.pod} does not know itself`);
      return found;
    },
    meet(servers: readonly ValkeyServer[]) {
      const { stage, access } = scene();
      return stage.activities.meetValkeyNodes({ access, servers });
    },
    assign(server: ValkeyServer, ...ranges: readonly SlotRange[]) {
      const { stage, access } = scene();
      return stage.activities.assignValkeySlots({ access, server, ranges });
    },
    attach(server: ValkeyServer, masterId: string) {
      const { stage, access } = scene();
      return stage.activities.attachValkeyReplica({ access, server, masterId });
    },
    /** Waits until the server says so in its view of the cluster. */
    async untilSaid(server: ValkeyServer, words: string): Promise<void> {
      while (!(await command(server, 'CLUSTER', 'INFO')).includes(words))
        await new Promise((resolve) => setTimeout(resolve, 20));
    },
  };
}
