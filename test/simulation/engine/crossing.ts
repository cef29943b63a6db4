/** Copies a value as Temporal would, and refuses what JSON would lose without a word: a Map, a Date, undefined. */
export function crossing(value: unknown, where: string): unknown {
  // Nothing at all is what a function without a result gives, and arrives as nothing.
  return value === undefined ? undefined : copy(value, where);
}

function copy(value: unknown, where: string): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new LostInCrossing(where, String(value));
      return value;
    case 'object':
      return value === null ? null : copyObject(value, where);
    default:
      throw new LostInCrossing(where, typeof value);
  }
}

function copyObject(value: object, where: string): unknown {
  if (Array.isArray(value)) return value.map((item, at) => copy(item, `${where}[${at}]`));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new LostInCrossing(where, `a ${value.constructor.name}`);
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item, `${where}.${key}`)]));
}

/** Says what would have been lost on the way, and where it stood. */
export class LostInCrossing extends Error {
  constructor(where: string, what: string) {
    super(`${where} is ${what}, which JSON does not carry`);
  }
}
