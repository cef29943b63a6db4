import type { Artifact } from './cache/artifact.ts';
import type { Component, Home } from './home.ts';

/** One thing that the stack runs. A file in `parts/` is all it takes to add one. */
export interface Part {
  readonly name: string;
  /** What it is for, in a few words. */
  readonly summary: string;
  readonly version: string;
  /** `on-request` parts start only when `up --with` names them. */
  readonly starts: 'always' | 'on-request';
  /** False when this checkout has no such part (yet); it is then left out. */
  readonly exists?: () => boolean;
  /** Parts that must be ready before this one is started, and that stop after it. */
  readonly dependsOn: readonly string[];
  /** Parts that it can start without, but that must not stop before it. */
  readonly stopsBefore?: readonly string[];
  readonly artifacts: readonly Artifact[];
  /** The ports that it listens on at offset 0. */
  readonly ports: Readonly<Record<string, number>>;
  /** How long it may take from `SIGTERM` to its end before it is killed. */
  readonly graceMs: number;
  /** Where people and programs reach it. */
  addresses(context: PartContext): Readonly<Record<string, string>>;
  /** Makes directories and configuration before each start; it may run any number of times. */
  prepare?(context: PartContext): Promise<void>;
  command(context: PartContext): PartCommand;
  /** Resolves when it serves; throws the reason while it does not. */
  checkReady(context: PartContext): Promise<void>;
  /** What others rely on besides its running: it counts as ready only afterwards. It may run any number of times. */
  afterReady?(context: PartContext): Promise<void>;
}

/** How a part is run. */
export interface PartCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** What a part may know of the stack that it is in. */
export interface PartContext {
  readonly home: Home;
  readonly portOffset: number;
  /** The directory for what the part keeps. */
  readonly dataDirectory: string;
  /** One of the part's own ports, with the offset. */
  port(name: string): number;
  /** A port of another part. */
  portOf(part: string, name: string): number;
  /** The absolute path of a file of one of the part's artifacts. */
  file(artifact: Artifact, name: string): string;
  kubeconfig(component: Component): string;
}
