import type { TaggedInstance } from '../../workflows/spot-agent/domain/orphans.ts';
import type {
  CloudInstance,
  Market,
  Pool,
  PoolPrice,
} from '../../workflows/spot-agent/domain/observation.ts';

/** Which agent's instances are meant, and where. */
export interface Ec2Scope {
  readonly region: string;
  readonly agentId: string;
}

/** One instance of an agent. */
export interface Ec2Target extends Ec2Scope {
  readonly instanceId: string;
  /** Since when it is known to exist: EC2 may not have heard of a young one, which is not its end. */
  readonly knownSinceMs: number;
}

/** What is launched, and for whom. */
export interface Ec2Launch extends Ec2Scope, Pool {
  readonly clientId: string;
  readonly replica: string;
  readonly epoch: number;
  /** The workflow that launches it. */
  readonly operation: string;
  readonly imageId: string;
  readonly subnetId: string | null;
  readonly market: Market;
}

/** All that workflows may ask of EC2. */
export interface Ec2Activities {
  /**
   * Reads the instances that are tagged as the agent's or named, and the newest prices of pools. Null when EC2 does not
   * answer: that must not keep a promotion waiting.
   */
  observeEc2Instances(
    input: Ec2Scope & { readonly instanceIds: readonly string[]; readonly pools: readonly Pool[] },
  ): Promise<{ readonly instances: readonly CloudInstance[]; readonly prices: readonly PoolPrice[] } | null>;

  /** Reads every instance that lives and is tagged as some agent's. */
  observeTaggedEc2Instances(input: { readonly region: string }): Promise<readonly TaggedInstance[]>;

  /**
   * Launches one instance for a replica. One that carries the replica's tag already is the answer, and a repetition
   * that EC2 has not heard of yet is the same launch by its client token.
   */
  launchEc2Instance(input: Ec2Launch): Promise<{ readonly instanceId: string; readonly repeated: boolean }>;

  /** Terminates an instance whose tags say that it is the agent's; one that has ended already is success. */
  terminateEc2Instance(target: Ec2Target): Promise<{ readonly state: string }>;

  /** Waits until EC2 says that the instance is terminated, or knows it no longer. */
  awaitEc2Terminated(target: Ec2Target): Promise<void>;
}
