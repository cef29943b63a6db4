import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { explainFileError } from './stack-error.ts';

/** The directory of one stack: its state, its logs, its data. */
export interface Home {
  readonly directory: string;
  /** Marks everything that this stack starts; it follows from the directory, so that it survives the loss of all state. */
  readonly stackId: string;
}

/** The identity that somebody acts under, each with its own kubeconfig. */
export type Component =
  | 'admin'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'nodes'
  | 'provisioner'
  | 'worker'
  | 'starter';

/** The directory that is meant when nobody names one. */
export function defaultHomeDirectory(): string {
  return resolve(process.env['KEELSON_HOME'] ?? '.keelson');
}

/** Opens the directory of a stack, and makes it when it is not there yet. */
export function openHome(directory: string = defaultHomeDirectory()): Home {
  try {
    for (const name of ['logs', 'data', 'kubeconfigs', 'config'])
      mkdirSync(join(directory, name), { recursive: true });
    accessSync(directory, constants.W_OK);
    const real = realpathSync(directory);
    return { directory: real, stackId: createHash('sha256').update(real).digest('hex').slice(0, 16) };
  } catch (error) {
    throw explainFileError(error, directory, 'KEELSON_HOME');
  }
}

/** The files of a stack by what they are for. */
export const pathOf = {
  state: (home: Home): string => join(home.directory, 'state.json'),
  settings: (home: Home): string => join(home.directory, 'stack.json'),
  lock: (home: Home): string => join(home.directory, 'supervisor.lock'),
  log: (home: Home, part: string): string => join(home.directory, 'logs', `${part}.log`),
  data: (home: Home, part: string): string => join(home.directory, 'data', part),
  config: (home: Home, name: string): string => join(home.directory, 'config', name),
  kubeconfig: (home: Home, component: Component): string =>
    join(home.directory, 'kubeconfigs', `${component}.yaml`),
  images: (home: Home): string => join(home.directory, 'config', 'images.json'),
  volumes: (home: Home): string => join(home.directory, 'data', 'volumes'),
};
