import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openHome, pathOf } from './home.ts';
import type { Component, Home } from './home.ts';
import { KubernetesApi } from './kubernetes/api.ts';
import { findFreeOffset, startOnFreePorts } from './free-ports.ts';
import { isAlive, signal } from './process-table.ts';
import type { ProcessIdentity } from './process-table.ts';
import { silentProgress } from './progress.ts';
import type { Progress } from './progress.ts';
import { contextOf, findPart, readSettings } from './settings.ts';
import { startStack } from './start.ts';
import { readState } from './state.ts';
import { purgeHome, stopStack } from './stop.ts';

/** A stack as tests use it. */
export interface StackHandle {
  readonly home: string;
  readonly portOffset: number;
  readonly temporalAddress: string;
  readonly temporalUiUrl: string;
  /** The kubeconfig file of somebody: tests act as `admin`, what they test acts as itself. */
  kubeconfig(component: Component): string;
  /** The addresses of a part, by what they are for. */
  addresses(part: string): Readonly<Record<string, string>>;
  part(name: string): PartHandle;
  /** A Temporal namespace of the test's own, with Keelson's search attributes; answers its name. */
  createTemporalNamespace(prefix?: string): Promise<string>;
  /** A Kubernetes namespace of the test's own. */
  createNamespace(prefix?: string): Promise<NamespaceHandle>;
  /** Starts further parts, and waits until they are ready. */
  startParts(...names: readonly string[]): Promise<void>;
}

/** A Kubernetes namespace that goes away with all that is in it. */
export interface NamespaceHandle extends AsyncDisposable {
  readonly name: string;
  remove(): Promise<void>;
}

/** One part of a running stack. */
export interface PartHandle {
  /** The process that runs now; throws when there is none. */
  process(): ProcessIdentity;
  /** Ends its process the hard way (or as told), and resolves when that process is gone; the supervisor starts another. */
  kill(name?: NodeJS.Signals): Promise<void>;
  /** Resolves when it is ready, in a process other than `not`. */
  awaitReady(not?: ProcessIdentity): Promise<ProcessIdentity>;
  /** Ends its process the hard way, and resolves when another one is ready. */
  renew(): Promise<ProcessIdentity>;
}

/** What a test stack is started with. */
export interface TestStackOptions {
  readonly withParts?: readonly string[];
  readonly onlyParts?: readonly string[];
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

const POLL_MS = 50;
const LIMIT_MS = 120_000;

/** The variable that names the stack of a test run, for the processes of that run. */
export const TEST_STACK_VARIABLE = 'KEELSON_TEST_STACK';

/** The stack that the test run shares; the global set-up has started it. */
export async function useStack(): Promise<StackHandle> {
  const directory = process.env[TEST_STACK_VARIABLE];
  if (directory !== undefined) return attachStack(directory);
  throw new Error(`no stack runs for this test: ${TEST_STACK_VARIABLE} is not set by a global set-up`);
}

/** Starts a stack of its own in a new directory, on ports that nobody uses; `stop` leaves nothing of it. */
export async function startTestStack(
  options: TestStackOptions = {},
): Promise<StackHandle & { stop(): Promise<void> }> {
  const homeDirectory = mkdtempSync(join(tmpdir(), 'keelson-test-'));
  try {
    const quiet = { progress: silentProgress, signal: new AbortController().signal };
    await startOnFreePorts({ ...quiet, ...options, homeDirectory, portOffset: findFreeOffset() });
  } catch (error) {
    purgeHome(openHome(homeDirectory));
    throw error;
  }
  return { ...attachStack(homeDirectory), stop: () => stopTestStack(homeDirectory) };
}

/** A handle on a stack that runs in this directory. */
export function attachStack(directory: string): StackHandle {
  const home = openHome(directory);
  const settings = readSettings(home);
  if (settings === undefined) throw new Error(`no stack was ever started in ${directory}`);
  const { portOffset } = settings;
  const addresses = (name: string): Readonly<Record<string, string>> => {
    const part = findPart(name);
    return part.addresses(contextOf(home, portOffset, part));
  };
  const temporalAddress = addresses('temporal')['frontend'] ?? '';
  return {
    home: home.directory,
    portOffset,
    temporalAddress,
    temporalUiUrl: addresses('temporal')['ui'] ?? '',
    kubeconfig: (component) => pathOf.kubeconfig(home, component),
    addresses,
    part: (name) => partHandle(home, name),
    createTemporalNamespace: async (prefix = 'test') => {
      const { createTemporalNamespace } = await import('./temporal/namespace.ts');
      return createTemporalNamespace(temporalAddress, uniqueName(prefix));
    },
    createNamespace: (prefix = 'test') => createNamespace(home, uniqueName(prefix)),
    startParts: async (...names) => {
      const signal = new AbortController().signal;
      await startStack({ homeDirectory: directory, onlyParts: names, progress: silentProgress, signal });
    },
  };
}

function partHandle(home: Home, name: string): PartHandle {
  const find = (): ProcessIdentity | undefined => {
    const recorded = readState(home)?.parts[name]?.process ?? undefined;
    return recorded !== undefined && isAlive(recorded) ? recorded : undefined;
  };
  const handle: PartHandle = {
    process: () => {
      const found = find();
      if (found === undefined) throw new Error(`${name} does not run`);
      return found;
    },
    async kill(how = 'SIGKILL') {
      const target = find();
      if (target === undefined) throw new Error(`${name} does not run`);
      signal(target, how);
      await awaitThat(`${name} to end`, () => (isAlive(target) ? undefined : true));
    },
    awaitReady: (not) =>
      awaitThat(`${name} to be ready`, () => {
        const ready = readState(home)?.parts[name]?.phase === 'ready' ? find() : undefined;
        return ready !== undefined && (ready.pid !== not?.pid || ready.startTime !== not.startTime)
          ? ready
          : undefined;
      }),
    async renew() {
      const before = handle.process();
      await handle.kill();
      return handle.awaitReady(before);
    },
  };
  return handle;
}

async function createNamespace(home: Home, name: string): Promise<NamespaceHandle> {
  const withApi = async (work: (api: KubernetesApi) => Promise<unknown>): Promise<void> => {
    const api = new KubernetesApi(pathOf.kubeconfig(home, 'admin'));
    await work(api).finally(() => api.close());
  };
  await withApi((api) => api.send('POST', '/api/v1/namespaces', { metadata: { name } }));
  const remove = (): Promise<void> => withApi((api) => api.send('DELETE', `/api/v1/namespaces/${name}`));
  return { name, remove, [Symbol.asyncDispose]: remove };
}

async function stopTestStack(directory: string): Promise<void> {
  const home = openHome(directory);
  await stopStack(home, silentProgress);
  purgeHome(home);
}

async function awaitThat<T>(what: string, look: () => T | undefined): Promise<T> {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`waited ${LIMIT_MS / 1000} s for ${what}`);
    await delay(POLL_MS);
  }
}

function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}
