import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

/** What the worker says of itself; null means that nothing is wrong. */
export interface Health {
  /** Why it should be restarted. */
  notAlive(): string | null;
  /** Why it takes no work yet, or no more. */
  notReady(): string | null;
}

/** The HTTP server for probes and Prometheus. */
export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

const CORE_TIMEOUT_MS = 2_000;

/** Serves `/livez`, `/readyz` and `/metrics`: ours, and those of Temporal's core, which has a port of its own. */
export async function serveHealth(
  address: { readonly host: string; readonly port: number },
  health: Health,
  registry: Registry,
  coreMetricsUrl: string | null,
): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const answer = (status: number, text: string, type = 'text/plain'): void =>
      void response.writeHead(status, { 'content-type': type }).end(text);
    const judge = (why: string | null): void =>
      why === null ? answer(200, 'ok\n') : answer(503, `${why}\n`);
    switch (request.url) {
      case '/livez':
        judge(health.notAlive());
        break;
      case '/readyz':
        judge(health.notReady());
        break;
      case '/metrics':
        collect(registry, coreMetricsUrl).then(
          (text) => answer(200, text, registry.contentType),
          (error: unknown) => answer(500, `${String(error)}\n`),
        );
        break;
      default:
        answer(404, 'there are /livez, /readyz and /metrics\n');
    }
  });
  await listen(server, address);
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

async function collect(registry: Registry, coreMetricsUrl: string | null): Promise<string> {
  const own = await registry.metrics();
  if (coreMetricsUrl === null) return own;
  try {
    const core = await fetch(coreMetricsUrl, { signal: AbortSignal.timeout(CORE_TIMEOUT_MS) });
    return `${own}\n${await core.text()}`;
  } catch (error) {
    return `${own}\n# the metrics of Temporal's core are not there: ${String(error)}\n`;
  }
}
