import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { fillTables, SPEC_TABLES } from '../../../workflows/datamesh/domain/spec-tables.ts';

const README = fileURLToPath(new URL('../../../workflows/datamesh/README.md', import.meta.url));

test('the README’s tables are what the planner reads (vitest -u renders them anew)', async () => {
  const text = readFileSync(README, 'utf8');
  for (const name of Object.keys(SPEC_TABLES)) expect(text).toContain(`<!-- table:${name} -->`);
  await expect(fillTables(text)).toMatchFileSnapshot(README);
});
