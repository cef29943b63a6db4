import type { LaunchConfig } from './observation.ts';

/** What a client may wish of its agent. */
export interface SpotConfiguration {
  readonly autoSwitch: boolean;
  readonly manualReplica: boolean;
  readonly autoTerminate: boolean;
  readonly terminateWaitSeconds: number;
  readonly launch: LaunchConfig | null;
}

const LONGEST_WAIT_SECONDS = 7 * 86_400;

/** A refusal as the HTTP API answers it. */
export interface ConfigurationRefusal {
  readonly code: 'INVALID_CONFIGURATION';
  readonly message: string;
}

/** Why a configuration cannot be, in words for whoever sent it; null when it can. */
export function refuseConfiguration(config: SpotConfiguration): ConfigurationRefusal | null {
  const message = describeFlaw(config);
  return message === null ? null : { code: 'INVALID_CONFIGURATION', message };
}

function describeFlaw(config: SpotConfiguration): string | null {
  const { autoSwitch, manualReplica, terminateWaitSeconds, launch } = config;
  if (autoSwitch && manualReplica) return 'Auto-switch and manual replica are mutually exclusive';
  if (!Number.isInteger(terminateWaitSeconds) || terminateWaitSeconds < 0)
    return 'terminate_wait_seconds must be a whole number from 0';
  if (terminateWaitSeconds > LONGEST_WAIT_SECONDS)
    return `terminate_wait_seconds must not be over ${LONGEST_WAIT_SECONDS}: turn auto_terminate off instead`;
  if ((manualReplica || autoSwitch) && (launch === null || launch.pools.length === 0))
    return 'replicas need launch.image_id and at least one pool in launch.pools';
  return null;
}
