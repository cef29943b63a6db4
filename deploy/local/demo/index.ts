import type { Scene } from './scene.ts';
import { spotAgent } from './spot-agent.ts';
import { valkeyCluster } from './valkey-cluster.ts';

/** Every scene, in the order in which they are shown. */
export const SCENES: readonly Scene[] = [valkeyCluster, spotAgent];
