/** Parameters on one line as `name=value`, lists by commas, pairs of numbers as ranges; absent ones are left out. */
export function renderParameters(entries: readonly (readonly [string, unknown])[]): string {
  return entries
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${renderValue(value)}`)
    .join(' ');
}

/** Moves every line of a text to the right. */
export const indent = (text: string, by: number): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : ' '.repeat(by) + line))
    .join('\n');

function renderValue(value: unknown): string {
  if (typeof value === 'string') return /\s|^$/.test(value) ? JSON.stringify(value) : value;
  if (!Array.isArray(value)) return JSON.stringify(value);
  const items: readonly unknown[] = value;
  if (items.length === 0) return 'none';
  return items.map((item) => (isRange(item) ? renderRange(item) : renderValue(item))).join(',');
}

const isRange = (value: unknown): value is readonly [number, number] =>
  Array.isArray(value) && value.length === 2 && value.every((end) => typeof end === 'number');

const renderRange = ([first, last]: readonly [number, number]): string =>
  first === last ? String(first) : `${first}-${last}`;
