import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { UPGRADE_PHASES } from '../../../workflows/valkey-upgrade/domain/phases.ts';
import { DEFAULT_UPGRADE } from '../../../workflows/valkey-upgrade/domain/resource.ts';
import { SHARD_STATES } from '../../../workflows/valkey-upgrade/domain/shard-states.ts';

interface Schema {
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const file = new URL('../../../deploy/crds/valkeyupgrade.yaml', import.meta.url);
const definition = parse(readFileSync(file, 'utf8')) as {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
};
const schema = definition.spec.versions[0]?.schema.openAPIV3Schema.properties;

describe('the definition of the resource', () => {
  it('fills in the defaults that the code fills in', () => {
    const defaults = Object.entries(schema?.['spec']?.properties ?? {})
      .filter(([, field]) => field.default !== undefined)
      .map(([name, field]) => [name, field.default]);
    expect(Object.fromEntries(defaults)).toEqual(DEFAULT_UPGRADE);
  });

  it('knows the phases and the states of the tables', () => {
    const status = schema?.['status']?.properties;
    expect(status?.['phase']?.enum).toEqual(UPGRADE_PHASES);
    expect(status?.['shardStatuses']?.items?.properties?.['status']?.enum).toEqual(SHARD_STATES);
  });
});
