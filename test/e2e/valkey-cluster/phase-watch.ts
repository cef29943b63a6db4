import type { ClusterSeen, ClusterWorld } from '../../valkey/cluster-world.ts';

interface PhaseWatch {
  /** What it has heard of until now. */
  readonly phases: readonly string[];
  stop(): Promise<readonly string[]>;
}

/** Notes every phase that the resource shows, in order. */
export function watchPhases(world: ClusterWorld): PhaseWatch {
  const phases: string[] = [];
  const end = new AbortController();
  const path = `/apis/valkey-operator.smoketurner.com/v1alpha1/namespaces/${world.namespace}/valkeyclusters?watch=true`;
  const watching = world.api.watch(path, end.signal, (_, object) => {
    const { phase } = (object as ClusterSeen).status ?? {};
    if (phase !== undefined && phases.at(-1) !== phase) phases.push(phase);
  });
  return {
    phases,
    async stop() {
      // The watch hears of a change a moment after a read does.
      await world.until(async () => {
        const shown = (await world.read())?.status?.phase;
        return phases.at(-1) === shown ? { found: true } : { missing: `the watch to hear of ${shown}` };
      });
      end.abort();
      await watching;
      return phases;
    },
  };
}
