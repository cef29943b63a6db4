import { EC2Client } from '@aws-sdk/client-ec2';
import type { MutationHook } from '../mutations.ts';

/** EC2 as activities use it: one client for each region, and the hook around what changes something. */
export interface Ec2Clients {
  inRegion(region: string): EC2Client;
  readonly hook: MutationHook;
  close(): void;
}

const DEFAULT_REGION = 'us-east-1';

/**
 * Makes clients as they are needed. Where EC2 is and who asks is told by AWS's own environment variables
 * (`AWS_ENDPOINT_URL_EC2`, `AWS_ACCESS_KEY_ID`, …) and its other sources, so that an emulator needs no setting of ours.
 */
export function createEc2Clients(
  hook: MutationHook,
  options: { readonly endpoint?: string } = {},
): Ec2Clients {
  const clients = new Map<string, EC2Client>();
  return {
    hook,
    inRegion(region) {
      const name = region === '' ? DEFAULT_REGION : region;
      let client = clients.get(name);
      if (client === undefined) {
        client = new EC2Client({
          region: name,
          // Temporal repeats what failed, and with a growing delay.
          maxAttempts: 1,
          requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
          ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
        });
        clients.set(name, client);
      }
      return client;
    },
    close() {
      for (const client of clients.values()) client.destroy();
    },
  };
}
