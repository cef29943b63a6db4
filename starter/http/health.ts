import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

/** What the health endpoints ask; an empty list means well. */
export interface HealthChecks {
  readonly live: () => readonly string[];
  readonly ready: () => readonly string[];
  readonly registry: Registry;
}

/** Serves /livez, /readyz and /metrics; port 0 takes any free one. */
export async function serveHealth(
  checks: HealthChecks,
  listen: { readonly host: string; readonly port: number },
): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const answer = async (path: string): Promise<{ status: number; type: string; body: string }> => {
    if (path === '/metrics')
      return { status: 200, type: checks.registry.contentType, body: await checks.registry.metrics() };
    if (path !== '/livez' && path !== '/readyz')
      return { status: 404, type: 'text/plain', body: 'Try /livez, /readyz or /metrics.\n' };
    const problems = path === '/livez' ? checks.live() : checks.ready();
    const body = problems.length === 0 ? 'ok\n' : `${problems.join('\n')}\n`;
    return { status: problems.length === 0 ? 200 : 503, type: 'text/plain', body };
  };
  const server = createServer((request, response) => {
    answer(new URL(request.url ?? '/', 'http://localhost').pathname).then(
      ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      (error: unknown) => response.writeHead(500).end(`${String(error)}\n`),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen.port, listen.host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    close: () =>
      new Promise<void>((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}
