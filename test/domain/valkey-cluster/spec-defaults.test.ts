import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  DEFAULT_SPEC,
  fillSpec,
  refuseSpec,
} from '../../../workflows/valkey-cluster/domain/spec-defaults.ts';
import { EVENTS, PHASES } from '../../../workflows/valkey-cluster/domain/phases.ts';

interface Schema {
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

const file = new URL('../../../deploy/crds/valkeycluster.yaml', import.meta.url);
const definition = parse(readFileSync(file, 'utf8')) as {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
};
const schema = definition.spec.versions[0]?.schema.openAPIV3Schema.properties;

/** What the API server makes of an absent value: its default, and within an object the defaults of its fields. */
function defaulted(of: Schema): unknown {
  if (of.default === undefined) return undefined;
  if (of.properties === undefined) return of.default;
  const fields = Object.entries(of.properties)
    .map(([name, field]) => [name, defaulted(field)] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields);
}

describe('the defaults of a spec', () => {
  it('are those of the definition that the API server has', () => {
    expect(defaulted({ ...schema?.['spec'], default: {} })).toEqual(DEFAULT_SPEC);
  });

  it('fill in what a manifest leaves out, and keep what it says', () => {
    const spec = fillSpec({
      masters: 5,
      tls: { issuerRef: { name: 'ca' } },
      auth: { secretRef: { name: 's' } },
    });
    expect(spec).toEqual({
      ...DEFAULT_SPEC,
      masters: 5,
      tls: {
        issuerRef: { name: 'ca', kind: 'ClusterIssuer', group: 'cert-manager.io' },
        duration: '2160h',
        renewBefore: '360h',
      },
      auth: { secretRef: { name: 's', key: 'password' } },
    });
  });
});

describe('a spec that cannot be planned', () => {
  it.each([
    [{ masters: 2 }, /^spec\.masters is 2/],
    [{ masters: 101 }, /^spec\.masters is 101/],
    [{ masters: 'x' }, /^spec\.masters is x/],
    [{ replicasPerMaster: 6 }, /^spec\.replicasPerMaster is 6/],
    [{ masters: 100, replicasPerMaster: 5 }, /600 nodes/],
    [{ resources: { limits: { memory: 'lots' } } }, /^spec\.resources\.limits\.memory is "lots"/],
    [{ resources: { requests: { cpu: '1..2' } } }, /^spec\.resources\.requests\.cpu is "1\.\.2"/],
  ])('%j is refused with the field', (spec, words) => {
    expect(refuseSpec(fillSpec(spec))).toMatch(words);
  });

  it('is none of the samples', () => {
    expect(refuseSpec(fillSpec({}))).toBeNull();
  });
});

describe('the definition', () => {
  it('allows exactly the phases that the table has', () => {
    expect(schema?.['status']?.properties?.['phase']?.enum).toEqual(PHASES);
    expect(EVENTS).toHaveLength(20);
  });
});
