import type { KubernetesApi } from '../../kubernetes/api.ts';
import type { Pod } from '../api/objects.ts';

interface Token {
  readonly value: string;
  readonly refreshAtMs: number;
}

/** Tokens of a pod's service account, asked for once and again before they expire. */
export class TokenSource {
  private readonly api: KubernetesApi;
  private readonly tokens = new Map<string, Token>();

  constructor(api: KubernetesApi) {
    this.api = api;
  }

  /** When the first of the tokens should be renewed. */
  get refreshAtMs(): number | undefined {
    const times = [...this.tokens.values()].map((token) => token.refreshAtMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** The tokens that the pod's volumes need, by audience. */
  async read(pod: Pod): Promise<ReadonlyMap<string, string>> {
    const wanted = (pod.spec.volumes ?? [])
      .flatMap((volume) => volume.projected?.sources ?? [])
      .flatMap((source) => source.serviceAccountToken ?? []);
    await Promise.all(
      wanted.map(async ({ audience = '', expirationSeconds = 3600 }) => {
        const known = this.tokens.get(audience);
        if (known !== undefined && known.refreshAtMs > Date.now()) return;
        this.tokens.set(audience, await this.request(pod, audience, expirationSeconds));
      }),
    );
    return new Map([...this.tokens].map(([audience, token]) => [audience, token.value]));
  }

  private async request(pod: Pod, audience: string, expirationSeconds: number): Promise<Token> {
    const { namespace, name, uid } = pod.metadata;
    const account = pod.spec.serviceAccountName ?? 'default';
    const answer = await this.api.send<{ status: { token: string } }>(
      'POST',
      `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
      {
        spec: {
          audiences: audience === '' ? [] : [audience],
          expirationSeconds,
          boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
        },
      },
    );
    return { value: answer.status.token, refreshAtMs: Date.now() + expirationSeconds * 800 };
  }
}
