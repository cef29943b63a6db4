import type { ResourceRef } from '../../workflows/shared/messages.ts';
import type { LifecycleWatch } from '../watch-definition.ts';
import { badInput } from './cli-error.ts';
import { readCurrentNamespace } from './current-namespace.ts';

/** The entity that a command is about. */
export interface Target {
  readonly lifecycle: string;
  readonly workflowType: string;
  readonly kind: string;
  readonly ref: ResourceRef;
  readonly workflowId: string;
}

const LONGEST_NAME = 253;
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** Reads the words of a command; a namespace that they do not tell is the one that kubectl would use. */
export async function resolveTarget(
  words: readonly string[],
  namespace: string | undefined,
  watches: readonly LifecycleWatch[],
): Promise<Target> {
  const told = namespace !== undefined || partsOf(words).length !== 2;
  return parseTarget(words, told ? namespace : await readCurrentNamespace(), watches);
}

/** Reads `<lifecycle>/<namespace>/<name>`, `<kind>/<name>` or `<kind> <name>`, the last two with `-n`. */
export function parseTarget(
  words: readonly string[],
  namespace: string | undefined,
  watches: readonly LifecycleWatch[],
): Target {
  const parts = partsOf(words);
  const [first = '', second, third] = parts;
  if (parts.length === 3 && second !== undefined && third !== undefined) {
    if (namespace !== undefined && namespace !== second)
      throw badInput(
        `${words.join(' ')} is in namespace ${second}, and -n says ${namespace}`,
        'Give it once.',
      );
    return targetOf(findWatch(first, watches), { namespace: second, name: third });
  }
  if (parts.length !== 2 || second === undefined)
    throw badInput(
      `"${words.join(' ')}" does not name a resource`,
      'Write valkey-cluster/default/cache, or valkeycluster cache -n default. "keelson list" shows what there is.',
    );
  return targetOf(findWatch(first, watches), { namespace: namespace ?? 'default', name: second });
}

const partsOf = (words: readonly string[]): readonly string[] =>
  words.length === 1 ? (words[0] ?? '').split('/') : words;

/** The lifecycle that a word means: its name, or its resource's kind or plural, in any case. */
export function findWatch(word: string, watches: readonly LifecycleWatch[]): LifecycleWatch {
  const wanted = word.toLowerCase();
  const found = watches.find(({ lifecycle, primary }) =>
    [lifecycle, primary.kind.toLowerCase(), primary.plural, `${primary.plural}.${primary.group}`].includes(
      wanted,
    ),
  );
  if (found !== undefined) return found;
  const known = watches.map(({ lifecycle, primary }) => `${lifecycle} (${primary.kind})`).join(', ');
  throw badInput(`there is no lifecycle or kind "${word}"`, `There is ${known}.`);
}

/** The target of a lifecycle and a reference, refused when the names could not be names. */
export function targetOf(watch: LifecycleWatch, ref: ResourceRef): Target {
  for (const name of [ref.namespace, ref.name])
    if (!NAME.test(name) || name.length > LONGEST_NAME)
      throw badInput(`"${name}" cannot be the name of anything in Kubernetes`);
  return {
    lifecycle: watch.lifecycle,
    workflowType: watch.workflowType,
    kind: watch.primary.kind,
    ref,
    workflowId: `${watch.lifecycle}/${ref.namespace}/${ref.name}`,
  };
}
