import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { endCleanly, type Afterwards } from '../clean-end.ts';
import { figureOf, median, quantile, round, type Figure, type Pair } from './figures.ts';

const DOCUMENT = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));

/** One benchmark: what it sets up, and the two things that it measures in turn. */
export interface Bench {
  readonly name: string;
  /** One sentence: what is measured over what. */
  readonly about: string;
  readonly goal: number;
  readonly rounds: number;
  /** What is measured; milliseconds unless it says otherwise. */
  readonly unit?: string;
  /** Sets everything up, puts off how to take it away again, and hands out the two measurements. */
  prepare(afterwards: Afterwards, interrupted: AbortSignal): Promise<Prepared>;
}

export interface Prepared {
  ours(round: number): Promise<number>;
  floor(round: number): Promise<number>;
  /** A second goal, judged on all rounds and told beside the ratio. */
  verdict?(pairs: readonly Pair[]): { readonly ok: boolean; readonly says: string };
  /** Further figures to print beside the ratio, once all rounds are over. */
  beside?(pairs: readonly Pair[]): Promise<readonly (readonly [name: string, value: string])[]>;
}

/** Runs the rounds, ours and floor in turn and each first every other time, and prints what came out. */
export async function runBench(
  bench: Bench,
  options: { readonly rounds?: number; readonly keep: boolean },
): Promise<Figure> {
  const unit = bench.unit ?? 'milliseconds';
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  say(`${bench.name}: ${bench.about}`);
  const rounds = options.rounds ?? bench.rounds;
  const { pairs, verdict, beside } = await endCleanly(async (afterwards, interrupted) => {
    const prepared = await bench.prepare(afterwards, interrupted);
    const pairs: Pair[] = [];
    for (let at = 0; at < rounds; at += 1) {
      const pair = at % 2 === 0 ? await floorFirst(prepared, at) : await oursFirst(prepared, at);
      pairs.push(pair);
      say(
        `round ${at + 1} of ${rounds}: ours ${round(pair.ours, 1)}, floor ${round(pair.floor, 1)} ${unit}, ratio ${round(pair.ours / pair.floor)}`,
      );
    }
    const verdict = prepared.verdict?.(pairs) ?? { ok: true, says: '' };
    return { pairs, verdict, beside: (await prepared.beside?.(pairs)) ?? [] };
  });
  const ratio = figureOf(bench.name, bench.goal, pairs);
  const figure = { ...ratio, ok: ratio.ok && verdict.ok };
  const table = renderTable(unit, pairs, ratio, verdict.says, beside);
  process.stdout.write(`${table}\n${JSON.stringify(figure)}\n`);
  if (options.keep) await keep(bench, table);
  return figure;
}

async function floorFirst(prepared: Prepared, at: number): Promise<Pair> {
  const floor = await prepared.floor(at);
  return { floor, ours: await prepared.ours(at) };
}

async function oursFirst(prepared: Prepared, at: number): Promise<Pair> {
  const ours = await prepared.ours(at);
  return { ours, floor: await prepared.floor(at) };
}

function renderTable(
  unit: string,
  pairs: readonly Pair[],
  figure: Figure,
  verdict: string,
  beside: readonly (readonly [string, string])[],
): string {
  const row = (name: string, values: readonly number[]): string =>
    `| ${name} | ${[median(values), quantile(values, 0.25), quantile(values, 0.75), Math.min(...values), Math.max(...values)].map((value) => round(value, 1)).join(' | ')} |`;
  return [
    `| ${unit} | median | 25 % | 75 % | least | most |`,
    '| --- | --- | --- | --- | --- | --- |',
    row(
      'ours',
      pairs.map((pair) => pair.ours),
    ),
    row(
      'floor',
      pairs.map((pair) => pair.floor),
    ),
    '',
    `Ratio ${figure.ratio} (goal ≤ ${figure.goal}: ${figure.ok ? 'met' : 'missed'}), spread ${figure.spread}, ${pairs.length} rounds.`,
    ...(verdict === '' ? [] : [`- ${verdict}`]),
    ...beside.map(([name, value]) => `- ${name}: ${value}`),
  ].join('\n');
}

/** Replaces the benchmark's section of the document. */
async function keep(bench: Bench, table: string): Promise<void> {
  const text = await readFile(DOCUMENT, 'utf8');
  const [head = '', ...sections] = text.split(/^(?=## )/m);
  const others = sections.filter((section) => !section.startsWith(`## ${bench.name}\n`));
  const date = new Date().toISOString().slice(0, 10);
  const section = `## ${bench.name}\n\n${bench.about}\n\nMeasured on ${date} by \`npm run bench -- ${bench.name} --keep\`.\n\n${table}\n`;
  const all = [...others.map((other) => `${other.trimEnd()}\n`), section].sort();
  await writeFile(DOCUMENT, [`${head.trimEnd()}\n`, ...all].join('\n'));
}
