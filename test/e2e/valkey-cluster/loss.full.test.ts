import { describeLostData } from './loss.ts';

// Replicas of an empty master must not make it look whole.
describeLostData({ replicasPerMaster: 1 });
