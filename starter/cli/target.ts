import type { ResourceRef } from '../../workflows/shared/messages.ts';
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

/** What a command must know of a lifecycle to find its entities; every watch has it. */
export interface NamedLifecycle {
  readonly lifecycle: string;
  readonly workflowType: string;
  readonly primary: { readonly kind: string; readonly plural?: string; readonly group?: string };
}

const LONGEST_NAME = 253;
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** Reads the words of a command; a namespace that they do not tell is the one that kubectl would use. */
export async function resolveTarget(
  words: readonly string[],
  namespace: string | undefined,
  lifecycles: readonly NamedLifecycle[],
): Promise<Target> {
  const told = namespace !== undefined || partsOf(words).length !== 2;
  return parseTarget(words, told ? namespace : await readCurrentNamespace(), lifecycles);
}

/** Reads `<lifecycle>/<namespace>/<name>`, `<kind>/<name>` or `<kind> <name>`, the last two with `-n`. */
export function parseTarget(
  words: readonly string[],
  namespace: string | undefined,
  lifecycles: readonly NamedLifecycle[],
): Target {
  const parts = partsOf(words);
  const [first = '', second, third] = parts;
  if (parts.length === 3 && second !== undefined && third !== undefined) {
    if (namespace !== undefined && namespace !== second)
      throw badInput(
        `${words.join(' ')} is in namespace ${second}, and -n says ${namespace}`,
        'Give it once.',
      );
    return targetOf(findLifecycle(first, lifecycles), { namespace: second, name: third });
  }
  if (parts.length !== 2 || second === undefined)
    throw badInput(
      `"${words.join(' ')}" does not name a resource`,
      'Write valkey-cluster/default/cache, or valkeycluster cache -n default. "keelson list" shows what there is.',
    );
  return targetOf(findLifecycle(first, lifecycles), { namespace: namespace ?? 'default', name: second });
}

const partsOf = (words: readonly string[]): readonly string[] =>
  words.length === 1 ? (words[0] ?? '').split('/') : words;

/** The lifecycle that a word means: its name, or its resource's kind or plural, in any case. */
export function findLifecycle<T extends NamedLifecycle>(word: string, lifecycles: readonly T[]): T {
  const wanted = word.toLowerCase();
  const found = lifecycles.find((each) => wordsFor(each).includes(wanted));
  if (found !== undefined) return found;
  const known = lifecycles.map(({ lifecycle, primary }) => `${lifecycle} (${primary.kind})`).join(', ');
  throw badInput(`there is no lifecycle or kind "${word}"`, `There is ${known}.`);
}

function wordsFor({ lifecycle, primary: { kind, plural, group } }: NamedLifecycle): readonly string[] {
  const names = [lifecycle, kind.toLowerCase()];
  return plural === undefined ? names : [...names, plural, `${plural}.${group}`];
}

/** The target of a lifecycle and a reference, refused when the names could not be names. */
export function targetOf({ lifecycle, workflowType, primary }: NamedLifecycle, ref: ResourceRef): Target {
  for (const name of [ref.namespace, ref.name])
    if (!NAME.test(name) || name.length > LONGEST_NAME)
      throw badInput(`"${name}" cannot be the name of anything in Kubernetes`);
  const workflowId = `${lifecycle}/${ref.namespace}/${ref.name}`;
  return { lifecycle, workflowType, kind: primary.kind, ref, workflowId };
}
