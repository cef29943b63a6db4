import { LAYERS, SHARED_PARTS } from '../../test/architecture/layers.ts';
import type { Layer } from '../../test/architecture/layers.ts';
import { markdownTable } from './section.ts';
import type { Generator } from './section.ts';

/** The rules that the architecture test holds, as a table. */
export const importTable: Generator = {
  section: 'import table',
  file: 'docs/architecture.md',
  render: () =>
    markdownTable([
      ['part', 'files', 'may import', 'as types also', 'packages'],
      ...[...SHARED_PARTS, ...LAYERS].map(rowOf),
    ]),
};

const rowOf = (layer: Layer): readonly string[] => [
  layer.name,
  layer.files,
  layer.name === 'test' ? 'everything' : layer.imports.join(', ') || '—',
  layer.types.join(', ') || '—',
  layer.packages === 'every' ? 'every one' : layer.packages.map((name) => `\`${name}\``).join(', ') || 'none',
];
