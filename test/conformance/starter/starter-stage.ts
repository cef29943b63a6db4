import { randomUUID } from 'node:crypto';
import { KubeConfig } from '@kubernetes/client-node';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { KubernetesApi } from '../../../starter/kubernetes-api.ts';
import { Starter } from '../../../starter/starter.ts';
import type { StarterOptions } from '../../../starter/starter.ts';
import { openTemporal } from '../../../starter/temporal-connection.ts';
import { grpcCodeOf } from '../../../starter/temporal-errors.ts';
import type { Hint } from '../../../workflows/shared/messages.ts';
import { Lamps, lampWatch } from './lamp.ts';
import { readServers } from './servers.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** Everything in seconds where service has minutes, so that a test can live to see it. */
const QUICK: Pick<StarterOptions, 'times' | 'pace' | 'parkedEveryMs' | 'awayReportMs'> = {
  times: {
    resyncMs: 600_000,
    requestMs: 3_000,
    watchMs: 2_000,
    idleMs: 3_000,
    backOff: { firstMs: 100, limitMs: 500 },
  },
  pace: { gapMs: 1_000, calmGapMs: 6_000 },
  awayReportMs: 500,
  parkedEveryMs: 500,
};

const NOT_FOUND = 5;

/** A hint as a workflow's history holds it. */
export interface HintReceived extends Hint {
  readonly atMs: number;
}

/** A starter in this process, between it and the real servers wires that a test can freeze and cut. */
export class StarterStage implements AsyncDisposable {
  readonly taskQueue = `lamps-${randomUUID().slice(0, 8)}`;
  readonly lamps: Lamps;
  readonly client: Client;
  readonly kubernetesWire: TcpProxy;
  readonly temporalWire: TcpProxy;
  readonly #kubeConfig: KubeConfig;
  readonly #connection: Connection;
  readonly #closers: (() => Promise<void>)[] = [];

  private constructor(parts: {
    kubeConfig: KubeConfig;
    lamps: Lamps;
    connection: Connection;
    kubernetesWire: TcpProxy;
    temporalWire: TcpProxy;
  }) {
    this.#kubeConfig = parts.kubeConfig;
    this.lamps = parts.lamps;
    this.#connection = parts.connection;
    this.client = new Client({ connection: parts.connection });
    this.kubernetesWire = parts.kubernetesWire;
    this.temporalWire = parts.temporalWire;
  }

  static async open(): Promise<StarterStage> {
    const { kubeConfig, temporalAddress } = await readServers();
    const server = new URL(kubeConfig.getCurrentCluster()?.server ?? '');
    const [host = '127.0.0.1', port = '7233'] = temporalAddress.split(':');
    return new StarterStage({
      kubeConfig,
      lamps: await Lamps.open(new KubernetesApi(kubeConfig)),
      connection: await Connection.connect({ address: temporalAddress }),
      kubernetesWire: await TcpProxy.to(server.hostname, Number(server.port)),
      temporalWire: await TcpProxy.to(host, Number(port)),
    });
  }

  /** Starts a replica; `stop` ends it as SIGTERM would. */
  async start(
    options: {
      readonly leaseName?: string;
      readonly identity?: string;
      readonly temporalNamespace?: string;
    } = {},
  ): Promise<{ readonly starter: Starter; readonly stop: () => Promise<void> }> {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromClusterAndUser(
      { name: 'wire', server: `https://127.0.0.1:${this.kubernetesWire.port}`, skipTLSVerify: true },
      this.#kubeConfig.getCurrentUser() ?? { name: 'nobody' },
    );
    const temporal = openTemporal({
      TEMPORAL_ADDRESS: `127.0.0.1:${this.temporalWire.port}`,
      TEMPORAL_NAMESPACE: options.temporalNamespace ?? 'default',
    });
    const starter = new Starter({
      kubeConfig,
      client: temporal.client,
      watches: [lampWatch],
      log: pino({ level: process.env['KEELSON_TEST_LOG'] ?? 'silent' }),
      lease: {
        namespace: this.lamps.namespace,
        name: options.leaseName ?? 'starter',
        identity: options.identity ?? randomUUID(),
        leaseMs: 3_000,
        renewDeadlineMs: 2_000,
        everyMs: 300,
      },
      delivery: { taskQueue: this.taskQueue, deadlineMs: 2_000 },
      ...QUICK,
    });
    const stopping = new AbortController();
    const running = starter.run(stopping.signal);
    const stop = async (): Promise<void> => {
      stopping.abort();
      await running;
      await temporal.close();
    };
    this.#closers.push(stop);
    return { starter, stop };
  }

  workflowId(name: string): string {
    return `lamp/${this.lamps.namespace}/${name}`;
  }

  /** The hints that an entity has received in its newest run; none when there is no run. */
  async hints(name: string): Promise<readonly HintReceived[]> {
    try {
      const history = await this.client.workflow.getHandle(this.workflowId(name)).fetchHistory();
      return (history.events ?? []).flatMap((event) => {
        const payload = event.workflowExecutionSignaledEventAttributes?.input?.payloads?.[0];
        if (payload?.data == null) return [];
        const hint = JSON.parse(Buffer.from(payload.data).toString()) as Hint;
        const atMs = Number(event.eventTime?.seconds ?? 0) * 1000 + (event.eventTime?.nanos ?? 0) / 1e6;
        return [{ ...hint, atMs }];
      });
    } catch (error) {
      if (grpcCodeOf(error) === NOT_FOUND) return [];
      throw error;
    }
  }

  /** The generations that an entity was told of, in order. */
  async generations(name: string): Promise<readonly number[]> {
    return (await this.hints(name)).filter((hint) => hint.kind === 'Lamp').map((hint) => hint.generation);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closers) await close();
    await this.kubernetesWire[Symbol.asyncDispose]();
    await this.temporalWire[Symbol.asyncDispose]();
    for await (const run of this.client.workflow.list({
      query: `ExecutionStatus = "Running" AND KeelsonNamespace = "${this.lamps.namespace}"`,
    }))
      await this.client.workflow.getHandle(run.workflowId).terminate('the test is over');
    await this.lamps.removeAll();
    await this.#connection.close();
  }
}
