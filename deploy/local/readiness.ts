import { readFileSync } from 'node:fs';
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import { connect } from 'node:net';

const TIMEOUT_MS = 2_000;

/** Resolves when the address answers 2xx; throws what it answered otherwise. */
export async function checkHttp(url: string, options: { caFile?: string } = {}): Promise<void> {
  // A loopback server with a certificate of its own making is only asked whether it is healthy, never told anything.
  const trust =
    options.caFile === undefined ? { rejectUnauthorized: false } : { ca: readFileSync(options.caFile) };
  const status = await new Promise<number>((resolve, reject) => {
    const settings = { timeout: TIMEOUT_MS, agent: false };
    const onAnswer = (response: { statusCode?: number | undefined; resume: () => unknown }): void => {
      response.resume();
      resolve(response.statusCode ?? 0);
    };
    const request = url.startsWith('https:')
      ? getHttps(url, { ...settings, ...trust }, onAnswer)
      : getHttp(url, settings, onAnswer);
    request.on('error', reject);
    request.on('timeout', () =>
      request.destroy(new Error(`${url} did not answer within ${TIMEOUT_MS / 1000} s`)),
    );
  });
  if (status < 200 || status > 299) throw new Error(`${url} answered ${status}`);
}

/** Resolves when somebody listens on the port. */
export async function checkTcp(port: number, host = '127.0.0.1'): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ port, host, timeout: TIMEOUT_MS });
    socket.on('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.on('timeout', () => socket.destroy(new Error(`nobody answers on ${host}:${port}`)));
    socket.on('error', reject);
  });
}
