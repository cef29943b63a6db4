import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { CampaignResult, Outcome } from './campaign.ts';

const DOCUMENT = fileURLToPath(new URL('../../docs/faults.md', import.meta.url));

/** The campaign as a table, failures first, then what was skipped and why. */
export function renderResult(result: CampaignResult): string {
  const rows = result.outcomes.toSorted((a, b) => Number(a.ok) - Number(b.ok)).map(renderRow);
  const skipped = result.skipped.map((one) => `- ${one}`);
  return [
    '| point | | seconds | found |',
    '| --- | --- | --- | --- |',
    ...rows,
    ...(skipped.length === 0 ? [] : ['', 'Skipped:', '', ...skipped]),
  ].join('\n');
}

const renderRow = ({ point, ok, seconds, found }: Outcome): string =>
  `| ${point} | ${ok ? '✓' : '✗'} | ${seconds.toFixed(1)} | ${found.join('; ').replaceAll('|', '\\|')} |`;

/** The last line that a campaign prints. */
export const renderCount = (outcomes: readonly Outcome[]): string =>
  `${outcomes.length} points, ${outcomes.filter((outcome) => !outcome.ok).length} failures`;

/** Replaces the operation's section of the document. */
export async function keepResult(operation: string, result: CampaignResult, resumed: boolean): Promise<void> {
  const [head = '', ...sections] = (await readFile(DOCUMENT, 'utf8')).split(/^(?=## )/m);
  const others = sections.filter((section) => !section.startsWith(`## ${operation}\n`));
  const date = new Date().toISOString().slice(0, 10);
  const section = [
    `## ${operation}`,
    `Run on ${date} by \`npm run faults -- ${operation} --keep${resumed ? ' --resume' : ''}\`: ${renderCount(result.outcomes)}.`,
    `${renderResult(result)}\n`,
  ].join('\n\n');
  const all = [...others.map((other) => `${other.trimEnd()}\n`), section].sort((a, b) => (a < b ? -1 : 1));
  await writeFile(DOCUMENT, [`${head.trimEnd()}\n`, ...all].join('\n'));
}
