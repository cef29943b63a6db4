import type { Import } from './import-scan.ts';
import { LAYERS, SHARED_PARTS } from './layers.ts';
import type { Layer } from './layers.ts';
import type { Violation } from './source-tree.ts';

/** What each file of `workflows/shared/` loads, itself or through others: packages and Node modules. */
type Loads = ReadonlyMap<string, ReadonlySet<string>>;

/** Everything that some file imports and should not. */
export function checkImports(imports: readonly Import[]): readonly Violation[] {
  const loads = readLoads(imports);
  return imports.flatMap((one) => {
    const layer = layerOf(one.from, loads);
    if (layer === undefined) return [violation(one, 'no layer has this file')];
    const fault = one.kind === 'file' ? judgeFile(one, layer, loads) : judgePackage(one, layer);
    return fault === null ? [] : [violation(one, `${layer.name} ${fault}`)];
  });
}

/** The row of the import table that a file belongs to. */
function layerOf(path: string, loads: Loads): Layer | undefined {
  const loaded = [...(loads.get(path) ?? [])];
  return (
    SHARED_PARTS.find(
      (part) => part.matches.test(path) && loaded.every((one) => part.packages.includes(one)),
    ) ?? LAYERS.find((layer) => layer.matches.test(path))
  );
}

function judgeFile(one: Import, layer: Layer, loads: Loads): string | null {
  const target = layerOf(one.target, loads);
  if (target === undefined) return 'may not import what no layer has';
  const lifecycle = lifecycleOf(one.from);
  const other = lifecycleOf(one.target);
  if (lifecycle !== null && other !== null && !isOneEntity(lifecycle, other))
    return 'may not import another lifecycle';
  if (target.name === layer.name || layer.imports.includes(target.name)) return null;
  if (layer.types.includes(target.name)) {
    return one.typeOnly ? null : `may import ${target.name} as types only`;
  }
  return `may not import ${target.name}`;
}

function judgePackage(one: Import, layer: Layer): string | null {
  if (layer.packages === 'every' || layer.packages.includes(one.target)) return null;
  if (one.typeOnly && layer.packageTypes?.includes(one.target)) return null;
  return `may not import the ${one.kind === 'builtin' ? 'Node module' : 'package'}`;
}

function readLoads(imports: readonly Import[]): Loads {
  const shared = imports.filter((one) => !one.typeOnly && one.from.startsWith('workflows/shared/'));
  const loads = new Map<string, Set<string>>();
  for (const one of shared) loads.set(one.from, new Set());
  // Each round carries what is loaded one import further; when nothing is new, everything has arrived.
  for (let grew = true; grew;) {
    grew = false;
    for (const one of shared) {
      const own = loads.get(one.from) ?? new Set();
      const before = own.size;
      for (const name of one.kind === 'file' ? (loads.get(one.target) ?? []) : [one.target]) own.add(name);
      grew ||= own.size > before;
    }
  }
  return loads;
}

/** Lifecycles of several resources that one entity carries out, so that nothing else can change the same thing. */
const ENTITIES: readonly (readonly string[])[] = [['valkey-cluster', 'valkey-upgrade']];

const isOneEntity = (one: string, other: string): boolean =>
  one === other || ENTITIES.some((entity) => entity.includes(one) && entity.includes(other));

const lifecycleOf = (path: string): string | null => {
  const folder = /^workflows\/([^/]+)\//.exec(path)?.[1] ?? null;
  return folder === 'shared' ? null : folder;
};

const violation = (one: Import, message: string): Violation => ({
  at: `${one.from}:${one.line}`,
  message: `${message} (${one.target})`,
});
