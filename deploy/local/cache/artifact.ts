import type { Task } from '../progress.ts';

/** Files that a part is made of, in one version, and the places where they can be had. */
export interface Artifact {
  readonly name: string;
  readonly version: string;
  /** The files that must be there in the end, each with the SHA-256 of its content, or with the reason why none is pinned. */
  readonly files: Readonly<Record<string, FilePin>>;
  /** Tried in this order. */
  readonly sources: readonly Source[];
  /** Tells builds of the same version apart, where the content depends on more than the version. */
  readonly variant?: () => string;
}

/** How the content of a file is known to be the right one. */
export type FilePin = { readonly sha256: string } | { readonly verifiedBy: string };

/** A place where an artifact can be had. */
export type Source = InstalledSource | FetchedSource;

/** The machine has it already; nothing is copied. */
export interface InstalledSource {
  readonly kind: 'installed';
  readonly what: string;
  /** The files of the artifact where they lie, or nothing when the machine has none in a fitting version. */
  locate(): Promise<Readonly<Record<string, string>> | undefined>;
}

/** It is fetched or built once, and kept in the cache. */
export interface FetchedSource {
  readonly kind: 'fetched';
  readonly what: string;
  /** The tool that this source needs and the machine lacks, as a sentence; nothing when all is there. */
  findObstacle(): Promise<string | undefined>;
  /** Puts the artifact's files into the directory. */
  fetch(directory: string, context: FetchContext): Promise<void>;
}

/** What a source may use while it fetches. */
export interface FetchContext {
  readonly cacheDirectory: string;
  readonly task: Task;
  readonly signal: AbortSignal;
}

/** An artifact that is on this machine. */
export interface ResolvedArtifact {
  readonly artifact: Artifact;
  readonly origin: string;
  /** The absolute path of one of its files. */
  file(name: string): string;
}
