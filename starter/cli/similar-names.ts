/** Those names that a person who typed this one may have meant, the nearest first. */
export function selectSimilar(typed: string, names: readonly string[], limit = 5): readonly string[] {
  return names
    .map((name) => ({ name, distance: distanceOf(typed, name) }))
    .filter(
      ({ name, distance }) => distance <= Math.max(2, name.length / 3) || name.includes(lastPart(typed)),
    )
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

const lastPart = (typed: string): string => typed.split('/').at(-1) ?? typed;

/** How many letters must be changed, added or taken away to come from one to the other. */
export function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of one.split('').entries()) {
    const next = [at + 1];
    for (const [column, opposite] of other.split('').entries()) {
      const replaced = (row[column] ?? 0) + (letter === opposite ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
