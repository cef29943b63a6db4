import fc, { type Arbitrary } from 'fast-check';
import type { Json } from '../../../workflows/shared/plan.ts';

/** As much of an OpenAPI schema as definitions of resources use. */
export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

/** Numbers without a limit in their schema; the largest is one that JSON still carries exactly. */
const LARGEST = 2 ** 31 - 1;
const MOST_ITEMS = 3;
const LONGEST_TEXT = 12;

/** Texts that people, templates and broken templates really put into fields. */
const TEXTS = [
  '',
  ' ',
  '-',
  '0',
  'null',
  '../..',
  '{{ .Values.x }}',
  'a b',
  'ä✓',
  '$(reboot)',
  "'",
  '9'.repeat(40),
];

/** Values that keep to the schema; rules beyond it, which span several fields, may still refuse one. */
export function validValue(schema: Schema): Arbitrary<Json> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema['x-kubernetes-int-or-string'] === true) return fc.oneof(fc.nat(100), fc.constant('50%'));
  switch (schema.type) {
    case 'object':
      return validObject(schema);
    case 'array':
      return fc.array(validValue(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.max(schema.minItems ?? 0, Math.min(schema.maxItems ?? MOST_ITEMS, MOST_ITEMS)),
      });
    case 'string':
      return validText(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -LARGEST, max: schema.maximum ?? LARGEST });
    case 'number':
      return fc.double({
        min: schema.minimum ?? -LARGEST,
        max: schema.maximum ?? LARGEST,
        noNaN: true,
        noDefaultInfinity: true,
      });
    case 'boolean':
      return fc.boolean();
    default:
      return wildValue;
  }
}

function validObject(schema: Schema): Arbitrary<Json> {
  const { properties = {}, required = [], additionalProperties } = schema;
  if (typeof additionalProperties === 'object') {
    // What a key may be is never in the schema, but in rules beyond it.
    const key = fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom('app', 'example.com/team', 'MIXED.case_1') },
      { weight: 1, arbitrary: fc.oneof(fc.constantFrom('Not A Label!', ''), fc.string({ maxLength: 8 })) },
    );
    const value = validValue(additionalProperties);
    const usual = fc.oneof(
      { weight: 4, arbitrary: fc.constant<Json>('example') },
      { weight: 1, arbitrary: value },
    );
    return fc.dictionary(key, additionalProperties.type === 'string' ? usual : value, {
      maxKeys: MOST_ITEMS,
    });
  }
  const fields = Object.entries(properties).map(([name, field]) => [name, validValue(field)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...required] });
}

function validText({ pattern, minLength = 0, maxLength = LONGEST_TEXT }: Schema): Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { size: 'xsmall' });
  const fits = (text: string): boolean => text.length >= minLength && text.length <= maxLength;
  return fc.oneof(
    fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, LONGEST_TEXT)) }),
    fc.constantFrom('example', ...TEXTS.filter(fits)).filter(fits),
  );
}

/** Whatever JSON can say. */
export const wildValue: Arbitrary<Json> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }) as Arbitrary<Json>,
  fc.constantFrom<Json>(null, 0, -1, 1e21, 1.5, true, [], {}, ...TEXTS),
);

/** A spec with the right names and anything under them, or no spec at all. */
export function wildSpec(schema: Schema): Arbitrary<Json> {
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, field]) => [name, fc.oneof(wildValue, validValue(field))] as const,
  );
  const named = fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  return fc.oneof({ weight: 4, arbitrary: named }, { weight: 1, arbitrary: wildValue });
}
