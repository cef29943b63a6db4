import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const AGENT = fileURLToPath(new URL('../../spot-agent/agent.mjs', import.meta.url));

/** What is installed in an image: the agent, and what it is to be told. */
export interface Image {
  readonly api: string;
  readonly token: string;
  /** The agent's own name, the same on every instance that it ever runs on. */
  readonly agent: string;
  readonly everyMs: number;
}

/** What an agent says of itself. */
export interface AgentState {
  readonly instanceId: string;
  readonly imageId: string;
  readonly role: string;
  readonly epoch: number | null;
}

/** The agents that run on emulated instances: real processes, one for each instance of an image that has one. */
export class Fleet {
  readonly #images = new Map<string, Image>();
  readonly #agents = new Map<string, { readonly child: ChildProcess; state: AgentState }>();
  readonly #metadataUrl: (instanceId: string) => string;

  constructor(metadataUrl: (instanceId: string) => string) {
    this.#metadataUrl = metadataUrl;
  }

  /** From now on, instances of this image run the agent; without it they run nothing. */
  install(imageId: string, image: Image): void {
    this.#images.set(imageId, image);
  }

  /** Boots an instance. */
  boot(instanceId: string, imageId: string, role: string): void {
    const image = this.#images.get(imageId);
    if (image === undefined) return;
    const child = spawn(process.execPath, [AGENT], {
      env: {
        ...process.env,
        KEELSON_API: image.api,
        KEELSON_TOKEN: image.token,
        KEELSON_AGENT: image.agent,
        KEELSON_EVERY_MS: String(image.everyMs),
        KEELSON_METADATA: this.#metadataUrl(instanceId),
        KEELSON_ROLE: role,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const agent = { child, state: { instanceId, imageId, role: 'booting', epoch: null } as AgentState };
    this.#agents.set(instanceId, agent);
    createInterface(child.stdout).on('line', (line) => {
      console.log(`${instanceId}: ${line}`);
      agent.state = { instanceId, imageId, ...(JSON.parse(line) as Pick<AgentState, 'role' | 'epoch'>) };
    });
    child.once('error', (error) => console.error(`${instanceId} runs no agent:`, error));
  }

  /** Ends what runs on an instance, as the end of the instance does: without a word. */
  end(instanceId: string): void {
    this.#agents.get(instanceId)?.child.kill('SIGKILL');
    this.#agents.delete(instanceId);
  }

  endAll(): void {
    for (const instanceId of this.#agents.keys()) this.end(instanceId);
  }

  get states(): readonly AgentState[] {
    return [...this.#agents.values()].map(({ state }) => state);
  }
}
