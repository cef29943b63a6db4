import { pollUntil, type Look } from '../polling.ts';
import { withMembers, type ValkeyClients } from './access.ts';
import { readHealth, type HealthSeen } from './await-health.ts';
import type { ValkeyActivities } from './contract.ts';
import { SLOTS } from './slots.ts';
import { dissenters } from './view.ts';

type Input = Parameters<ValkeyActivities['awaitValkeyStability']>[0];

const LOOK_EVERY_MS = 100;

/** Looks at all servers until they have agreed that all is well for so long without a break; it changes nothing. */
export function awaitStability(
  clients: ValkeyClients,
  { access, servers, stableSeconds }: Input,
): Promise<{ readonly seconds: number }> {
  return withMembers(clients, access, servers, (members) => {
    const startedMs = performance.now();
    let wellSinceMs: number | null = null;
    return pollUntil(LOOK_EVERY_MS, async (): Promise<Look<{ readonly seconds: number }>> => {
      const wrong = findUnrest(await Promise.all(members.map(readHealth)));
      const nowMs = performance.now();
      wellSinceMs = wrong === null ? (wellSinceMs ?? nowMs) : null;
      if (wellSinceMs === null) return { waiting: wrong ?? '' };
      const wellMs = nowMs - wellSinceMs;
      if (wellMs >= stableSeconds * 1000) return { done: { seconds: Math.round(nowMs - startedMs) / 1000 } };
      return { waiting: `all is well for ${Math.floor(wellMs / 1000)} of ${stableSeconds} s` };
    });
  });
}

/** What keeps the cluster from being stable, in words; null when nothing does. */
function findUnrest(seen: readonly HealthSeen[]): string | null {
  const views = seen.map((one) => one.view);
  const names = (some: readonly { readonly pod: string }[]): string => some.map(({ pod }) => pod).join(', ');
  const notOk = views.filter((view) => !view.state.ok || view.state.slotsAssigned < SLOTS);
  if (notOk.length > 0) return `the state is not ok at ${names(notOk)}`;
  const down = seen.filter((one) => !one.linkUp).map((one) => one.view);
  if (down.length > 0) return `without a link to the master: ${names(down)}`;
  const failing = views.filter((view) => view.members.some((node) => node.failing !== 'no'));
  if (failing.length > 0) return `a member seems to fail to ${names(failing)}`;
  const strange = dissenters(views);
  return strange.length > 0 ? `another view has ${strange.join(', ')}` : null;
}
