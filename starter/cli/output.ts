import { InvalidArgumentError, Option } from 'commander';

/** The two forms in which a command answers. */
export type OutputFormat = 'text' | 'json';

/** The `-o` option of every command that answers something: JSON goes to stdout, alone. */
export function outputOption(): Option {
  return new Option('-o, --output <format>', 'how to answer').choices(['text', 'json']).default('text');
}

/** The answer itself, which scripts read. */
export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** The answer as JSON, and nothing else on stdout. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, undefined, 2));
}

/** Everything that is said on the way, for people. */
export function say(text: string): void {
  process.stderr.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** Parses an option that must be a whole number of at least `minimum`. */
export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= minimum && value <= maximum && text.trim() !== '') return value;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
  };
}

/** Rows as aligned columns; the first row is the heading. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The `Examples` block at the end of a command's help. */
export function examples(...lines: readonly (readonly [command: string, what: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length));
  return `\nExamples:\n${lines.map(([command, what]) => `  $ ${command.padEnd(width)}  # ${what}`).join('\n')}`;
}
