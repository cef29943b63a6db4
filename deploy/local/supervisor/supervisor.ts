import type { ResolvedArtifact } from '../cache/artifact.ts';
import { keyOf, resolveArtifact } from '../cache/resolve.ts';
import type { Home } from '../home.ts';
import type { Part } from '../part.ts';
import { identify } from '../process-table.ts';
import { silentProgress } from '../progress.ts';
import { contextOf, readSettings, selectParts } from '../settings.ts';
import type { Settings } from '../settings.ts';
import { messageOf, StackError } from '../stack-error.ts';
import { readState, writeState } from '../state.ts';
import type { PartState } from '../state.ts';
import { PartRunner } from './part-runner.ts';

/** Keeps all parts of one stack running, and writes down what it knows at every change. */
export class Supervisor {
  readonly #home: Home;
  readonly #note: (text: string) => void;
  readonly #runners = new Map<string, PartRunner>();
  readonly #recorded: Readonly<Record<string, PartState>>;
  readonly #states: Record<string, PartState> = {};

  constructor(home: Home, note: (text: string) => void) {
    this.#home = home;
    this.#note = note;
    this.#recorded = readState(home)?.parts ?? {};
  }

  /** Starts or adopts each part of the settings that is not looked after yet. */
  async apply(): Promise<void> {
    const settings = readSettings(this.#home);
    if (settings === undefined) throw new StackError('this directory has no stack', 'Run "keelson up".');
    const parts = selectParts(settings.parts).filter((part) => !this.#runners.has(part.name));
    const artifacts = await resolveAll(parts);
    for (const part of parts) this.#runners.set(part.name, this.#createRunner(part, settings, artifacts));
    for (const part of parts)
      this.#runnerOf(part.name).start(part.dependsOn.map((name) => this.#runnerOf(name)));
  }

  /** Stops every part, each after those that depend on it. */
  async stop(): Promise<void> {
    const stops = new Map<string, Promise<void>>();
    for (const runner of [...this.#runners.values()].reverse()) {
      const { name } = runner.part;
      const dependents = [...this.#runners.values()].filter(({ part }) =>
        [...part.dependsOn, ...(part.stopsBefore ?? [])].includes(name),
      );
      stops.set(name, runner.stop(dependents.flatMap(({ part }) => stops.get(part.name) ?? [])));
    }
    await Promise.all(stops.values());
  }

  #createRunner(
    part: Part,
    settings: Settings,
    artifacts: ReadonlyMap<string, ResolvedArtifact>,
  ): PartRunner {
    const context = contextOf(this.#home, settings.portOffset, part, artifacts);
    return new PartRunner(part, context, this.#recorded[part.name], {
      onNote: this.#note,
      onChange: (state) => {
        this.#states[part.name] = state;
        this.#write();
      },
    });
  }

  #runnerOf(name: string): PartRunner {
    const runner = this.#runners.get(name);
    if (runner === undefined) throw new Error(`nobody looks after ${name}`);
    return runner;
  }

  /** A disk that is full now must not end the supervision: the next change writes all of it again. */
  #write(): void {
    const supervisor = identify(process.pid);
    if (supervisor === undefined) throw new Error('this process has no entry in /proc');
    try {
      writeState(this.#home, { version: 1, supervisor, parts: this.#states });
    } catch (error) {
      this.#note(`the state could not be written: ${messageOf(error)}`);
    }
  }
}

async function resolveAll(parts: readonly Part[]): Promise<ReadonlyMap<string, ResolvedArtifact>> {
  const artifacts = new Map(
    parts.flatMap((part) => part.artifacts.map((artifact) => [keyOf(artifact), artifact] as const)),
  );
  const never = new AbortController().signal;
  const resolved = await Promise.all(
    [...artifacts].map(
      async ([key, artifact]) => [key, await resolveArtifact(artifact, silentProgress, never)] as const,
    ),
  );
  return new Map(resolved);
}
