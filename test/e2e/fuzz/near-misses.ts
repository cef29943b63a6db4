import fc, { type Arbitrary } from 'fast-check';
import type { Json } from '../../../workflows/shared/plan.ts';
import { validValue, type Schema } from './schema-values.ts';

/** A valid spec with one thing wrong in it. */
export interface NearMiss {
  /** The field that is wrong, as the API server writes it: `spec.image.pullSecrets[0]`. */
  readonly field: string;
  readonly spec: Json;
}

type Segment = string | number;

/** A place in a schema and the values that do not fit there. */
interface Site {
  readonly path: readonly Segment[];
  readonly wrong: readonly Json[];
}

const ANY_KEY = 'some-key';

/** Valid specs in each of which exactly one field breaks its own rule. */
export function nearMiss(schema: Schema): Arbitrary<NearMiss> {
  return fc
    .tuple(validValue(schema), fc.constantFrom(...sitesOf(schema, [])))
    .chain(([spec, { path, wrong }]) =>
      fc
        .constantFrom(...wrong)
        .map((value) => ({ field: fieldName(path), spec: put(spec, path, value, schema) })),
    );
}

/** Every place below a schema at which something can be wrong. */
function sitesOf(schema: Schema, path: readonly Segment[]): readonly Site[] {
  const wrong = wrongValues(schema);
  const own = wrong.length === 0 || path.length === 0 ? [] : [{ path, wrong }];
  const { properties = {}, items, additionalProperties } = schema;
  return [
    ...own,
    ...Object.entries(properties).flatMap(([name, field]) => sitesOf(field, [...path, name])),
    ...(items === undefined ? [] : sitesOf(items, [...path, 0])),
    ...(typeof additionalProperties === 'object' ? sitesOf(additionalProperties, [...path, ANY_KEY]) : []),
  ];
}

function wrongValues(schema: Schema): readonly Json[] {
  if (schema['x-kubernetes-int-or-string'] === true) return [{ a: 1 }, [1], true];
  const outside = [
    ...(schema.minimum === undefined ? [] : [schema.minimum - 1]),
    ...(schema.maximum === undefined ? [] : [schema.maximum + 1]),
  ];
  switch (schema.type) {
    case 'object':
      return ['a text', 7, [1]];
    case 'array':
      return ['a text', { a: 1 }];
    case 'boolean':
      return ['yes', 1];
    case 'integer':
      return ['three', 1.5, true, {}, ...outside];
    case 'number':
      return ['three', true, {}, ...outside];
    case 'string': {
      const short = (schema.minLength ?? 0) > 0 ? [''] : [];
      const long = schema.maxLength === undefined ? [] : ['x'.repeat(schema.maxLength + 1)];
      const strange = schema.enum === undefined && schema.pattern === undefined ? [] : ['neither ✓ nor ✗'];
      return [7, false, ['a'], ...short, ...long, ...strange];
    }
    default:
      return [];
  }
}

/** Puts a value into a copy; what is missing on the way there is made as plainly as the schema lets it be. */
function put(value: Json | undefined, path: readonly Segment[], wrong: Json, schema: Schema): Json {
  const [head, ...rest] = path;
  if (head === undefined) return wrong;
  if (typeof head === 'number') {
    const [first, ...others] = Array.isArray(value) ? value : [];
    return [put(first, rest, wrong, schema.items ?? {}), ...others];
  }
  const given = isObject(value) ? value : {};
  const below = childOf(schema, head);
  const filled = Object.fromEntries(
    (schema.required ?? [])
      .filter((name) => given[name] === undefined)
      .map((name) => [name, plainest(childOf(schema, name))]),
  );
  return { ...filled, ...given, [head]: put(given[head], rest, wrong, below) };
}

function plainest(schema: Schema): Json {
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, plainest(childOf(schema, name))]),
      );
    case 'array':
      return [];
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    default:
      return 'example';
  }
}

function childOf(schema: Schema, name: string): Schema {
  const { properties = {}, additionalProperties } = schema;
  return properties[name] ?? (typeof additionalProperties === 'object' ? additionalProperties : {});
}

const fieldName = (path: readonly Segment[]): string =>
  path.reduce<string>(
    (name, one) => (typeof one === 'number' ? `${name}[${one}]` : `${name}.${one}`),
    'spec',
  );

const isObject = (value: Json | undefined): value is { readonly [key: string]: Json | undefined } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
