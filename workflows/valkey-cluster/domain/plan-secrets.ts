import { allowed, blocked, type Verdict } from '../../shared/guards.ts';
import type { ValkeyPlan } from './commands.ts';
import { OVERLAP_ANNOTATION } from './names.ts';
import type { ValkeySecrets } from './observation.ts';
import type { PlanContext } from './plan.ts';
import type { Stage } from './stages.ts';
import { count, type ValkeyTopology } from './topology.ts';

/**
 * For so long after a new password the old one is valid: the kubelet brings a changed Secret to its pods within a minute
 * or two, and clients read theirs when they connect again.
 */
const OVERLAP_SECONDS = 120;

/** What changed Secrets ask for comes before all else: only then does every server let every other one in. */
export function draftSecrets({ topology, formed }: PlanContext): readonly Stage[] {
  const { secrets } = topology;
  if (secrets === undefined || !formed) return [];
  const servers = answeringServers(topology);
  return [
    isSettled(secrets) ? [] : [{ kind: 'AddPassword', servers, reason: describeAddition(secrets, servers) }],
    secrets.aclChanged
      ? [
          {
            kind: 'ApplyAcl',
            servers,
            reason: `the ACL Secret has changed: ${count(servers, 'server')} get its users, without a restart`,
          },
        ]
      : [],
  ].filter((stage) => stage.length > 0) as readonly Stage[];
}

/** The last step of a rotation, when nothing else is to be done. */
export function draftDrop({ topology, formed }: PlanContext): Stage {
  const { secrets } = topology;
  if (secrets === undefined || !formed || secrets.older === 0) return [];
  const servers = answeringServers(topology);
  const reason = `all ${count(servers, 'server')} take the new password: the old one is refused from now on, without a restart`;
  return [{ kind: 'DropPassword', servers, reason }];
}

/** Clients have a while to take the new password before the old one goes. */
export function guardOverlap(
  { secrets, cluster }: ValkeyTopology & { readonly cluster: { readonly annotations?: Annotations } },
  plan: ValkeyPlan,
): Verdict {
  if (secrets === undefined || !plan.steps.some((step) => step.kind === 'DropPassword')) return allowed;
  const overlap = overlapSeconds(cluster.annotations ?? {});
  if (secrets.keptSeconds >= overlap) return allowed;
  return blocked(
    `the old password stays valid beside the new one for ${overlap} s, so that clients can take the new one`,
    { overlapSeconds: overlap },
  );
}

type Annotations = Readonly<Record<string, string>>;

function overlapSeconds(annotations: Annotations): number {
  const asked = Number(annotations[OVERLAP_ANNOTATION] ?? OVERLAP_SECONDS);
  return Number.isFinite(asked) && asked >= 0 ? asked : OVERLAP_SECONDS;
}

const isSettled = ({ kept, lacking }: ValkeySecrets): boolean => kept && lacking.length === 0;

function describeAddition({ lacking, older }: ValkeySecrets, servers: number): string {
  if (lacking.length === 0 && older === 0)
    return 'the password is kept beside the cluster, so that it can be changed without an outage';
  return `the password has changed: ${count(servers, 'server')} take the new one beside the old, without a restart`;
}

const answeringServers = ({ nodes }: ValkeyTopology): number => nodes.filter((node) => node.ready).length;
