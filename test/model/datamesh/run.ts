import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { renderReport, summarise, type Summary } from './report.ts';
import { runJob, type JobResult } from './run-job.ts';
import { FULL_BOUNDS, jobsWithin, type Bounds, type Job } from './space.ts';

/** Explores the whole space on every core, prints what it found and fails when an invariant is broken. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      workers: { type: 'string', default: String(availableParallelism()) },
      diskful: { type: 'string', default: String(FULL_BOUNDS.diskful) },
      others: { type: 'string', default: String(FULL_BOUNDS.others) },
      report: { type: 'string' },
      /** Results are kept here one a line, and a run that was stopped goes on from them. */
      resume: { type: 'string' },
      /** `1/3` takes every third job: processes that share the space, and the file of results. */
      shard: { type: 'string', default: '1/1' },
      /** Only reports what the kept results say so far. */
      summary: { type: 'boolean', default: false },
      /** Writes the report into docs/datamesh-model.md. */
      keep: { type: 'boolean', default: false },
    },
  });
  const diskful = Number(values.diskful);
  const bounds: Bounds = {
    ...FULL_BOUNDS,
    diskful,
    others: Number(values.others),
    smallDiskful: Math.min(diskful, FULL_BOUNDS.smallDiskful),
  };
  const [shard = 1, shards = 1] = values.shard.split('/').map(Number);
  const jobs = jobsWithin(bounds).filter((_, at) => at % shards === shard - 1);
  console.error(`${jobs.length} scenarios on ${values.workers} workers`);
  const started = performance.now();
  const results = await runAll(jobs, values.summary ? 0 : Number(values.workers), values.resume ?? null);
  const summary = summarise(results, {
    seconds: (performance.now() - started) / 1000,
    workers: Number(values.workers),
    bounds,
  });
  const part =
    results.length < jobs.length
      ? `**Not yet a full run**: ${results.length} of ${jobs.length} scenarios, the small ones first. The same command with the same file goes on.\n\n`
      : '';
  const text = `${part}${renderReport(summary)}`;
  console.log(text);
  if (values.keep) keepReport(text);
  if (values.report !== undefined) writeFileSync(values.report, JSON.stringify(summary, undefined, 1));
  process.exitCode = failed(summary) ? 1 : 0;
}

const DOCUMENT = new URL('../../../docs/datamesh-model.md', import.meta.url);

/** Puts the report in the place of the last one, with the day and the command. */
function keepReport(text: string): void {
  const document = readFileSync(DOCUMENT, 'utf8');
  const day = new Date().toISOString().slice(0, 10);
  const command = `npm run model -- ${process.argv.slice(2).join(' ')}`;
  const place = /(?<=<!-- run -->\n)[^]*(?=<!-- end -->)/u;
  if (!place.test(document)) throw new Error('docs/datamesh-model.md has no place for the report');
  writeFileSync(
    DOCUMENT,
    document.replace(place, () => `On ${day}, \`${command}\`:\n\n${text.trimEnd()}\n`),
  );
}

const failed = (summary: Summary): boolean => summary.unsound.length > 0;

/** Hands out the jobs one at a time, so that a worker with small ones takes more of them. */
async function runAll(
  all: readonly Job[],
  workers: number,
  file: string | null,
): Promise<readonly JobResult[]> {
  const kept =
    file !== null && existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : [];
  const known = new Map(
    kept
      .map((line) => JSON.parse(line) as { key: string; result: JobResult })
      .map((one) => [one.key, one.result]),
  );
  const jobs = all.filter((job) => !known.has(JSON.stringify(job)));
  const results: JobResult[] = all.flatMap((job) => known.get(JSON.stringify(job)) ?? []);
  let next = 0;
  let states = 0;
  let told = 0;
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url));
      let job: Job | undefined;
      const give = (): void => {
        job = jobs[next];
        next += 1;
        if (job !== undefined) worker.postMessage(job);
        else worker.terminate().then(() => resolve(), reject);
      };
      worker.on('error', reject);
      worker.on('message', (result: JobResult) => {
        results.push(result);
        if (file !== null) appendFileSync(file, `${JSON.stringify({ key: JSON.stringify(job), result })}\n`);
        states += result.states;
        if (performance.now() - told > 10_000) {
          told = performance.now();
          console.error(`${results.length}/${all.length} scenarios, ${states} states`);
        }
        give();
      });
      give();
    });
  await Promise.all(Array.from({ length: workers }, work));
  return results;
}

if (isMainThread) await main();
else parentPort?.on('message', (job: Job) => parentPort?.postMessage(runJob(job)));
