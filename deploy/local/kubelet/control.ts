import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from './node/disk.ts';
import type { NodeState } from './node/local-node.ts';

/** Cuts a node off: its heartbeats stop and nothing is done for its pods, while their containers run on. */
export function loseNode(stateDir: string, node: string): Promise<void> {
  return changeNode(stateDir, node, 'lost');
}

/** Takes the power from a node: its containers die at once and its heartbeats stop. */
export function killNode(stateDir: string, node: string): Promise<void> {
  return changeNode(stateDir, node, 'killed');
}

/** Brings a lost or killed node back. */
export function restoreNode(stateDir: string, node: string): Promise<void> {
  return changeNode(stateDir, node, 'ready');
}

/** The states that were asked for; a node that is not named is ready. They survive a restart of the node process. */
export function readNodeStates(stateDir: string): Readonly<Record<string, NodeState>> {
  const directory = controlDirectory(stateDir);
  if (!existsSync(directory)) return {};
  const names = readdirSync(directory).filter((name) => !name.includes('.'));
  return Object.fromEntries(names.map((name) => [name, readState(join(directory, name))]));
}

/** Serves the wishes of the functions above, one after the other, for as long as the node process lives. */
export function serveNodeStates(
  stateDir: string,
  nodes: readonly string[],
  change: (node: string, state: NodeState) => Promise<void>,
  signal: AbortSignal,
): void {
  const directory = controlDirectory(stateDir);
  mkdirSync(directory, { recursive: true });
  const applied = new Map(nodes.map((node) => [node, readState(join(directory, node))]));
  let work = Promise.resolve();
  const apply = async (): Promise<void> => {
    for (const node of nodes) {
      const wanted = readState(join(directory, node));
      if (applied.get(node) !== wanted) await change(node, wanted);
      applied.set(node, wanted);
      writeFileAtomically(acknowledgement(directory, node), wanted);
    }
  };
  const schedule = (): void => void (work = work.then(apply));
  schedule();
  watch(directory, { signal, persistent: false }, (_event, name) => {
    if (name === null || nodes.includes(name)) schedule();
  });
}

async function changeNode(stateDir: string, node: string, state: NodeState): Promise<void> {
  const directory = controlDirectory(stateDir);
  mkdirSync(directory, { recursive: true });
  rmSync(acknowledgement(directory, node), { force: true });
  writeFileAtomically(join(directory, node), state);
  const deadlineMs = Date.now() + 10_000;
  while (readState(acknowledgement(directory, node), undefined) !== state) {
    if (Date.now() > deadlineMs)
      throw new Error(`the node process has not taken ${node} to be ${state}; is it running?`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function controlDirectory(stateDir: string): string {
  return join(stateDir, 'control');
}

function acknowledgement(directory: string, node: string): string {
  return join(directory, `${node}.done`);
}

function readState<Absent extends NodeState | undefined = 'ready'>(
  path: string,
  absent = 'ready' as Absent,
): NodeState | Absent {
  if (!existsSync(path)) return absent;
  const text = readFileSync(path, 'utf8');
  return text === 'lost' || text === 'killed' ? text : 'ready';
}
