import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { readServers } from '../../conformance/starter/servers.ts';

/** A starter as a process of its own, which a test can kill. */
export class StarterProcess {
  readonly #child: ChildProcess;
  readonly #log: string[] = [];

  private constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => this.#log.push(chunk.toString()));
  }

  static async spawn(options: {
    readonly namespace: string;
    readonly identity: string;
  }): Promise<StarterProcess> {
    const { kubeconfigFile, temporalAddress } = await readServers();
    const program = fileURLToPath(new URL('./lamp-starter.ts', import.meta.url));
    const child = spawn(process.execPath, [program], {
      env: {
        PATH: process.env['PATH'],
        KUBECONFIG: kubeconfigFile,
        TEMPORAL_ADDRESS: temporalAddress,
        KEELSON_LEASE_NAMESPACE: options.namespace,
        KEELSON_IDENTITY: options.identity,
        KEELSON_STARTER_HOST: '127.0.0.1',
        KEELSON_STARTER_PORT: '0',
      },
    });
    return new StarterProcess(child);
  }

  /** Its log lines, as it wrote them. */
  get log(): readonly Readonly<Record<string, unknown>>[] {
    return this.#log
      .join('')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  }

  /** The answer of one of its endpoints; 0 while it does not listen yet. */
  async ask(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const port = this.log.find((line) => line['msg'] === 'started')?.['port'];
    if (typeof port !== 'number') return { status: 0, text: '' };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  }

  /** Ends it and answers its exit code, or the signal. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null)
      return this.#child.exitCode ?? this.#child.signalCode;
    const ended = once(this.#child, 'exit');
    this.#child.kill(signal);
    const [code, by] = (await ended) as [number | null, string | null];
    return code ?? by;
  }
}
