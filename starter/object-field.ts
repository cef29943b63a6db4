/** A field of a value that may be anything. */
export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

/** A field that holds a text that is not empty, or null. */
export function textOf(value: unknown, name: string): string | null {
  const field = fieldOf(value, name);
  return typeof field === 'string' && field !== '' ? field : null;
}

/** The label of an object, or null. */
export const labelOf = (object: unknown, label: string): string | null =>
  textOf(fieldOf(fieldOf(object, 'metadata'), 'labels'), label);
