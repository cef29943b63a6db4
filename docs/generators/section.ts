/** A part of a Markdown file that is written by code, so that it is always true. */
export interface Generator {
  /** The name in the file's markers. */
  readonly section: string;
  /** The file, relative to the project's root. */
  readonly file: string;
  render(): string;
}

const opening = (section: string): string => `<!-- generated: ${section}; npm run generate -->`;
const closing = (section: string): string => `<!-- end: ${section} -->`;

/** Every file with generated sections as it should be. */
export function renderFiles(
  generators: readonly Generator[],
  read: (file: string) => string,
): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const generator of generators) {
    const { file } = generator;
    files.set(file, replaceSection(files.get(file) ?? read(file), generator));
  }
  return files;
}

function replaceSection(text: string, generator: Generator): string {
  const { file, section } = generator;
  const start = text.indexOf(opening(section));
  const end = text.indexOf(closing(section));
  if (start < 0 || end < start) {
    throw new Error(`${file} lacks the lines "${opening(section)}" and "${closing(section)}"`);
  }
  return `${text.slice(0, start)}${opening(section)}\n\n${generator.render().trim()}\n\n${text.slice(end)}`;
}

/** Rows as a Markdown table; the first row is the heading. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [heading = [], ...body] = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  return [heading, heading.map(() => '---'), ...body].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
