import { existsSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import { runFilesOf } from '../container/files.ts';
import type { PodRunner } from '../pod/runner.ts';
import { createSelfSignedCertificate } from './certificate.ts';
import { sendLog } from './logs.ts';

/** What a node's server needs to know about its pods. */
export interface ServerFacts {
  readonly pods: () => Iterable<PodRunner>;
  readonly directoryOf: (uid: string) => string;
}

/** The part of a kubelet's own API that the API server asks for: `/containerLogs/<namespace>/<pod>/<container>`. */
export function serveNode(name: string, address: string, port: number, facts: ServerFacts): Promise<Server> {
  const server = createServer(createSelfSignedCertificate(name), (request, response) => {
    try {
      answer(request, response, facts);
    } catch (error) {
      refuse(response, 500, error instanceof Error ? error.message : String(error));
    }
  });
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  server.once('error', reject);
  server.listen(port, address, () => resolve(server));
  return promise;
}

function answer(request: IncomingMessage, response: ServerResponse, facts: ServerFacts): void {
  const url = new URL(request.url ?? '/', 'https://node');
  const [kind, namespace, pod, container = ''] = url.pathname.split('/').filter((part) => part !== '');
  if (kind === 'healthz') {
    response.end('ok');
    return;
  }
  if (kind !== 'containerLogs') {
    refuse(response, 404, `a node of processes serves logs only, not ${kind ?? '/'}`);
    return;
  }
  const runner = [...facts.pods()].find(
    ({ record }) => record.namespace === namespace && record.name === pod,
  );
  const own = runner?.record.containers[container];
  if (runner === undefined || own === undefined) {
    refuse(response, 404, `container ${container} of pod ${namespace}/${pod} is not on this node`);
    return;
  }
  const previous = url.searchParams.get('previous') === 'true';
  const attempt = own.attempts - (previous ? 2 : 1);
  const file = runFilesOf(facts.directoryOf(runner.record.uid), container, attempt).log;
  if (attempt < 0 || !existsSync(file)) {
    const which = previous ? 'previous terminated container' : 'container';
    refuse(response, 400, `${which} "${container}" in pod "${pod}" not found`);
    return;
  }
  const wanted = {
    tailLines: numberOf(url, 'tailLines'),
    limitBytes: numberOf(url, 'limitBytes'),
    follow: url.searchParams.get('follow') === 'true',
  };
  sendLog(response, file, wanted, () => own.state.kind === 'running' && own.attempts === attempt + 1);
}

function numberOf(url: URL, name: string): number | undefined {
  const text = url.searchParams.get(name);
  return text === null ? undefined : Number(text);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' });
  response.end(`${message}\n`);
}
