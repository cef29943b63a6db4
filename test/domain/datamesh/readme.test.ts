import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fillTables, SPEC_TABLES } from '../../../workflows/datamesh/domain/spec-tables.ts';

const README = new URL('../../../workflows/datamesh/README.md', import.meta.url);

test('the README’s tables are what the planner reads', () => {
  const text = readFileSync(README, 'utf8');
  for (const name of Object.keys(SPEC_TABLES)) expect(text).toContain(`<!-- table:${name} -->`);
  expect(text).toBe(fillTables(text));
});
