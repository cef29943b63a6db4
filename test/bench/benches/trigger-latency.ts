import { KubeConfig } from '@kubernetes/client-node';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { KubernetesApi } from '../../../deploy/local/kubernetes/api.ts';
import type { StackHandle } from '../../../deploy/local/testing.ts';
import { Starter } from '../../../starter/starter.ts';
import { TASK_QUEUE } from '../../../workflows/shared/messages.ts';
import { startStackFor, type Afterwards } from '../../clean-end.ts';
import type { Bench } from '../bench.ts';
import { median, quantile, round, type Pair } from '../figures.ts';
import { startBenchWorker, type ThingWorld } from '../fixtures/in-process-worker.ts';
import {
  BARE_THINGS,
  changeThing,
  createThing,
  defineThings,
  thingPath,
  THINGS,
  thingWatch,
} from '../fixtures/things.ts';

/** Enough of them that none is hinted twice within the gap that the starter keeps between two hints of one entity. */
const OBJECTS = 40;
const EVICTED_ROUNDS = 40;
const NAMESPACE = 'default';
const P95_SLACK_MS = 100;

/** From a change to the first activity, over a bare watch and signal. */
export const triggerLatency: Bench = {
  name: 'trigger-latency',
  about:
    'From an applied change of an idle resource to the first activity of its entity, over a raw watch event and a bare signal-with-start to the first activity of a bare workflow.',
  goal: 1.2,
  rounds: 220,
  async prepare(afterwards, interrupted) {
    const parts = ['temporal', 'kube-apiserver'];
    const stack = await startStackFor(afterwards, { onlyParts: parts, signal: interrupted });
    const site = await openSite(stack, afterwards);
    return {
      ours: (at) => site.changeOurs(at),
      floor: (at) => site.changeBare(at),
      verdict: judgeTail,
      beside: async (pairs) => [...tails('cached', pairs), ...tails('evicted', await site.measureEvicted())],
    };
  },
};

function judgeTail(pairs: readonly Pair[]): { readonly ok: boolean; readonly says: string } {
  const beyondMs = tailOf(pairs, 'ours', 0.95) - tailOf(pairs, 'floor', 0.95);
  const ok = beyondMs <= P95_SLACK_MS;
  return {
    ok,
    says: `p95 is ${round(beyondMs, 1)} ms beyond the floor's (goal ≤ ${P95_SLACK_MS}: ${ok ? 'met' : 'missed'})`,
  };
}

const tailOf = (pairs: readonly Pair[], side: keyof Pair, p: number): number =>
  quantile(
    pairs.map((pair) => pair[side]),
    p,
  );

const tails = (which: string, pairs: readonly Pair[]): readonly (readonly [string, string])[] =>
  (['ours', 'floor'] as const).map((side) => {
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((p) => round(tailOf(pairs, side, p), 1));
    const ratio = side === 'ours' ? `, ratio ${round(median(pairs.map((one) => one.ours / one.floor)))}` : '';
    return [`${which}, ${side}, ${pairs.length} changes`, `median ${p50}, p95 ${p95}, p99 ${p99} ms${ratio}`];
  });

/** Both ways from a resource to an activity, in one process. */
interface Site {
  changeOurs(at: number): Promise<number>;
  changeBare(at: number): Promise<number>;
  /** The same with a worker that keeps no workflow in memory, so that each wakes by its whole history. */
  measureEvicted(): Promise<readonly Pair[]>;
}

async function openSite(stack: StackHandle, afterwards: Afterwards): Promise<Site> {
  const api = new KubernetesApi(stack.kubeconfig('admin'));
  afterwards.defer(() => api.close());
  await defineThings(api);
  const server = { address: stack.temporalAddress, namespace: 'default' };
  const arrivals = new Arrivals();
  const world: ThingWorld = { steps: new Map(), began: (_, about) => arrivals.arrived(about) };
  let worker = await startBenchWorker(server, world, { cachedWorkflows: 500 });
  afterwards.defer(() => worker.stop());
  const connection = await Connection.connect({ address: server.address });
  afterwards.defer(() => connection.close());
  const client = new Client({ connection });
  const stopping = new AbortController();
  const starting = startStarter(stack, client, stopping.signal);
  const watching = watchBare(api, client, stopping.signal);
  afterwards.defer(async () => {
    stopping.abort();
    await Promise.all([starting, watching]);
  });

  let change = 0;
  const measure = async (type: typeof THINGS, about: string, name: string): Promise<number> => {
    const arrival = arrivals.expect(about);
    const changedAtMs = performance.now();
    change += 1;
    await changeThing(api, type, { namespace: NAMESPACE, name }, change);
    return (await arrival) - changedAtMs;
  };
  const nameOf = (at: number): string => `thing-${at % OBJECTS}`;
  const changeOurs = (at: number): Promise<number> =>
    measure(THINGS, `${NAMESPACE}/${nameOf(at)}`, nameOf(at));
  const changeBare = (at: number): Promise<number> => measure(BARE_THINGS, `bare/${nameOf(at)}`, nameOf(at));
  const round = async (at: number): Promise<Pair> => ({
    ours: await changeOurs(at),
    floor: await changeBare(at),
  });

  for (let at = 0; at < OBJECTS; at += 1) {
    const awaken = [arrivals.expect(`${NAMESPACE}/${nameOf(at)}`), arrivals.expect(`bare/${nameOf(at)}`)];
    await createThing(api, THINGS, NAMESPACE, nameOf(at));
    await createThing(api, BARE_THINGS, NAMESPACE, nameOf(at));
    await Promise.all(awaken);
  }
  return {
    changeOurs,
    changeBare,
    async measureEvicted() {
      await worker.stop();
      worker = await startBenchWorker(server, world, { cachedWorkflows: 0 });
      // The first tasks still look for the worker that is gone.
      for (let at = 0; at < OBJECTS; at += 1) await round(at);
      const pairs: Pair[] = [];
      for (let at = 0; at < EVICTED_ROUNDS; at += 1) pairs.push(await round(at));
      return pairs;
    },
  };
}

async function startStarter(stack: StackHandle, client: Client, signal: AbortSignal): Promise<void> {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(stack.kubeconfig('admin'));
  const starter = new Starter({
    kubeConfig,
    client,
    watches: [thingWatch],
    log: pino({ level: 'silent' }),
    lease: { namespace: NAMESPACE, name: 'bench', identity: 'bench' },
  });
  await starter.run(signal);
}

/** The floor: each event becomes a signal, at once and with nothing looked at. */
async function watchBare(api: KubernetesApi, client: Client, signal: AbortSignal): Promise<void> {
  await api.watch(`${thingPath(BARE_THINGS, NAMESPACE)}?watch=true`, signal, (_, { metadata }) => {
    const note = `bare/${metadata.name}`;
    const sent = client.workflow.signalWithStart('bareEntity', {
      workflowId: note,
      workflowIdConflictPolicy: 'USE_EXISTING',
      taskQueue: TASK_QUEUE,
      signal: 'hint',
      signalArgs: [note],
    });
    sent.catch((error: unknown) => process.stderr.write(`the floor's signal failed: ${String(error)}\n`));
  });
}

/** Who waits for which activity to begin. */
class Arrivals {
  readonly #waiting = new Map<string, (atMs: number) => void>();

  expect(about: string): Promise<number> {
    return new Promise((resolve) => this.#waiting.set(about, resolve));
  }

  arrived(about: string): void {
    this.#waiting.get(about)?.(performance.now());
    this.#waiting.delete(about);
  }
}
