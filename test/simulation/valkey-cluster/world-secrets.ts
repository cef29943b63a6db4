import type { ValkeySecrets } from '../../../workflows/valkey-cluster/domain/observation.ts';
import type { WorldServer } from './world.ts';

/** The user's Secret with a password, and what is kept beside the cluster. */
export class WorldSecrets {
  password = 'first';
  #kept: string[] = [];
  #givenAtMs: number | null = null;

  observe(servers: ReadonlyMap<string, WorldServer>, nowMs: number): ValkeySecrets {
    const givenAtMs = this.#givenAtMs;
    return {
      kept: this.#kept[0] === this.password && givenAtMs !== null,
      lacking: [...servers].flatMap(([pod, one]) => (one.passwords.includes(this.password) ? [] : [pod])),
      older: this.#older().length,
      keptSeconds: givenAtMs === null ? 0 : Math.floor((nowMs - givenAtMs) / 1_000),
      aclChanged: false,
    };
  }

  add(servers: readonly WorldServer[], nowMs: number): { readonly servers: number } {
    this.#kept = [this.password, ...this.#older()];
    for (const server of servers) server.passwords = [...new Set([this.password, ...server.passwords])];
    this.#givenAtMs = nowMs;
    return { servers: servers.length };
  }

  drop(servers: readonly WorldServer[]): { readonly dropped: number } {
    const dropped = this.#older().length;
    for (const server of servers) server.passwords = [this.password];
    this.#kept = [this.password];
    return { dropped };
  }

  #older(): string[] {
    return this.#kept.filter((word) => word !== this.password);
  }
}
