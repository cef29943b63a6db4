import type { Violation } from './source-tree.ts';

/** What every folder of a kind has, so that who knows one knows all. */
interface Shape {
  readonly kind: string;
  readonly folder: RegExp;
  /** A folder in which nothing else is found is left alone. */
  readonly unless?: RegExp;
  readonly needs: readonly { readonly what: string; readonly pattern: RegExp }[];
}

const has = (what: string, pattern: RegExp): Shape['needs'][number] => ({ what, pattern });

const SHAPES: readonly Shape[] = [
  {
    kind: 'lifecycle',
    folder: /^(workflows\/(?!shared\/|valkey-upgrade\/)[^/]+)\/(.+)$/,
    // A lifecycle of which only the domain exists can be planned offline, and has nothing else yet.
    unless: /^(?:README\.md|domain\/.*)$/,
    needs: [
      has('README.md', /^README\.md$/),
      has('contract.ts', /^contract\.ts$/),
      has('entity.ts', /^entity\.ts$/),
      has('operations/*.ts', /^operations\/[^/]+\.ts$/),
      has('domain/*.ts', /^domain\/[^/]+\.ts$/),
    ],
  },
  {
    kind: 'lifecycle of wishes',
    // The entity of the cluster carries an upgrade out: there is no other writer.
    folder: /^(workflows\/valkey-upgrade)\/(.+)$/,
    needs: [
      has('README.md', /^README\.md$/),
      has('contract.ts', /^contract\.ts$/),
      has('operations/*.ts', /^operations\/[^/]+\.ts$/),
      has('domain/*.ts', /^domain\/[^/]+\.ts$/),
    ],
  },
  {
    kind: 'system',
    folder: /^(activities\/[^/]+)\/(.+)$/,
    needs: [
      has('contract.ts', /^contract\.ts$/),
      has('activities.ts', /^activities\.ts$/),
      has('client.ts', /^client\.ts$/),
      has('errors.ts', /^errors\.ts$/),
    ],
  },
];

/** Folders that lack something that every folder of their kind has. */
export const checkShapes = (paths: readonly string[]): readonly Violation[] =>
  SHAPES.flatMap((shape) =>
    [...foldersOf(shape, paths)].flatMap(([folder, inside]) =>
      (inside.every((path) => shape.unless?.test(path) ?? false) ? [] : shape.needs)
        .filter((need) => !inside.some((path) => need.pattern.test(path)))
        .map((need) => ({ at: folder, message: `a ${shape.kind} has ${need.what}` })),
    ),
  );

function foldersOf(shape: Shape, paths: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, string[]>();
  for (const path of paths) {
    const [, folder, inside] = shape.folder.exec(path) ?? [];
    if (folder === undefined || inside === undefined) continue;
    folders.set(folder, [...(folders.get(folder) ?? []), inside]);
  }
  return folders;
}
