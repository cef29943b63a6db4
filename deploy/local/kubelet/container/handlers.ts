import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Container, Handler } from '../api/objects.ts';
import type { ExecResult } from './execution.ts';

/** What a handler needs to know about its container. */
export interface HandlerTarget {
  readonly container: Container;
  readonly address: string;
  readonly exec: (command: readonly string[], timeoutMs: number) => Promise<ExecResult>;
}

/** Runs what a probe or a lifecycle hook asks for; never throws, a failure is an answer. */
export async function runHandler(
  handler: Handler,
  target: HandlerTarget,
  timeoutMs: number,
): Promise<ExecResult> {
  if (handler.exec !== undefined) return target.exec(handler.exec.command ?? [], timeoutMs);
  if (handler.httpGet !== undefined) return getHttp(handler.httpGet, target, timeoutMs);
  if (handler.tcpSocket !== undefined) {
    const port = resolvePort(handler.tcpSocket.port, target.container);
    return connectTcp(handler.tcpSocket.host ?? target.address, port, timeoutMs);
  }
  if (handler.sleep !== undefined) {
    await delay(Math.min(handler.sleep.seconds * 1000, timeoutMs));
    return { ok: true, output: '' };
  }
  return { ok: false, output: 'this kind of handler is not supported on a node of processes' };
}

/** A port by its number or by the name that the container gives it. */
export function resolvePort(port: number | string, container: Container): number {
  if (typeof port === 'number') return port;
  const named = container.ports?.find((each) => each.name === port)?.containerPort;
  return named ?? Number(port);
}

function connectTcp(host: string, port: number, timeoutMs: number): Promise<ExecResult> {
  const { promise, resolve } = Promise.withResolvers<ExecResult>();
  if (!isPort(port)) return Promise.resolve({ ok: false, output: `there is no port ${port}` });
  const socket = connect({ host, port });
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`dial tcp ${host}:${port}: i/o timeout`)));
  socket.once('connect', () => {
    resolve({ ok: true, output: '' });
    socket.destroy();
  });
  socket.once('error', (error) => resolve({ ok: false, output: error.message }));
  return promise;
}

function getHttp(
  get: NonNullable<Handler['httpGet']>,
  target: HandlerTarget,
  timeoutMs: number,
): Promise<ExecResult> {
  const { promise, resolve } = Promise.withResolvers<ExecResult>();
  const port = resolvePort(get.port, target.container);
  if (!isPort(port)) return Promise.resolve({ ok: false, output: `there is no port ${get.port}` });
  const headers: Record<string, string> = {
    'user-agent': 'kube-probe/1.36',
    accept: '*/*',
    connection: 'close',
  };
  for (const { name, value } of get.httpHeaders ?? []) headers[name.toLowerCase()] = value;
  const path = get.path === undefined || get.path === '' ? '/' : get.path;
  const options = { host: get.host ?? target.address, port, path, headers, agent: false as const };
  const secure = get.scheme?.toUpperCase() === 'HTTPS';
  const request = secure ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options);
  const timer = setTimeout(() => request.destroy(new Error('context deadline exceeded')), timeoutMs);
  request.once('response', (response) => {
    const code = response.statusCode ?? 0;
    response.resume();
    resolve({ ok: code >= 200 && code < 400, output: `HTTP probe failed with statuscode: ${code}` });
  });
  request.once('error', (error) => resolve({ ok: false, output: error.message }));
  request.end();
  return promise.finally(() => clearTimeout(timer));
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port > 0 && port < 65_536;
}
