import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, it } from 'vitest';
import { prepareBundle } from '../../worker/bundle.ts';
import { makeAnonymous } from './anonymous.ts';
import { readHistories, workflowsOf, type RecordedHistory } from './history-file.ts';

const CHANGED = fileURLToPath(new URL('./changed-workflow.ts', import.meta.url));
const WITHOUT_GUARD = fileURLToPath(new URL('./changed-guards-workflow.ts', import.meta.url));
const logger = new DefaultLogger('ERROR');
const histories = readHistories();

beforeAll(() => {
  // A violation that a test expects is not for the log.
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => {}),
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } } },
  });
});

/** Replays histories with the code of one bundle; gives, for each, what was wrong with it. */
async function replay(
  workflowsPath: string,
  recorded: readonly RecordedHistory[],
): Promise<ReadonlyMap<string, Error | null>> {
  const codePath = await prepareBundle(logger, { workflowsPath });
  const found = new Map<string, Error | null>();
  const results = Worker.runReplayHistories({ workflowBundle: { codePath } }, recorded);
  for await (const { workflowId, error } of results) {
    found.set(workflowId, error === undefined ? (found.get(workflowId) ?? null) : error);
  }
  return found;
}

const lifecycles = [...new Set(histories.map(({ lifecycle }) => lifecycle))];
const wrongWith = new Map<string, ReadonlyMap<string, Error | null>>();

describe('every recorded history', () => {
  beforeAll(async () => {
    for (const lifecycle of lifecycles) {
      const own = histories.filter((one) => one.lifecycle === lifecycle);
      wrongWith.set(lifecycle, await replay(workflowsOf(lifecycle), own));
    }
  });

  it.each(histories)('of $lifecycle is replayed: $name', ({ lifecycle, workflowId }) => {
    expect(wrongWith.get(lifecycle)?.get(workflowId)).toBeNull();
  });

  it('is free of the names of machines and servers', () => {
    for (const { history, name } of histories) {
      const payloads: string[] = [];
      const text = JSON.stringify(history, (key, value: unknown) => {
        if (key === 'data' && typeof value === 'string')
          payloads.push(Buffer.from(value, 'base64').toString());
        return value;
      });
      for (const said of [text, ...payloads]) expect(said, name).not.toMatch(/\d+@(?!keelson)[\w.-]+/);
    }
  });
});

describe('an incompatible change', () => {
  const touched = histories.filter(
    ({ lifecycle, name }) => lifecycle === 'lamp-row' && /^(?:row|light-up)-/.test(name),
  );
  let caught: ReadonlyMap<string, Error | null>;

  beforeAll(async () => {
    caught = await replay(CHANGED, touched);
  });

  it.each(touched)('is caught by $name', ({ workflowId }) => {
    expect(caught.get(workflowId)).toBeInstanceOf(DeterminismViolationError);
  });

  it('has histories to be caught by', () => {
    expect(touched.length).toBeGreaterThan(5);
  });
});

describe('a guard that is gone without a word', () => {
  const decided = histories.filter(
    ({ name }) => name.startsWith('row-blocked') || name.startsWith('dim-blocked'),
  );

  it('is caught by the entity and by the operation that it has held up', async () => {
    const caught = await replay(WITHOUT_GUARD, decided);
    expect(decided.length).toBeGreaterThan(1);
    for (const { workflowId } of decided)
      expect(caught.get(workflowId)).toBeInstanceOf(DeterminismViolationError);
  });
});

describe('one protobufjs', () => {
  it('is shared by all of Temporal’s packages, or no history that is JSON can be replayed', () => {
    const own = createRequire(import.meta.url);
    const found = ['proto', 'common', 'worker', 'client'].map((name) =>
      createRequire(own.resolve(`@temporalio/${name}`)).resolve('protobufjs'),
    );
    expect(new Set(found)).toEqual(new Set([own.resolve('protobufjs')]));
  });
});

describe('making a history anonymous', () => {
  const runs = [1, 2].map((n) => `01a1e370-7a76-7285-a80c-a99e3d91bfd${n}`);
  const payload = (text: string) => ({
    metadata: { encoding: 'anNvbi9wbGFpbg==' },
    data: Buffer.from(text).toString('base64'),
  });

  it('renames alike what was alike, inside payloads too, and keeps the times', () => {
    const history = {
      eventTime: '2026-11-16T08:00:00.123Z',
      identity: '4711@build-host.example',
      runId: runs[0],
      parent: runs[1],
      operation: `valkey-cluster/default/cache/create/${runs[0]?.slice(0, 8)}-1.1`,
      failure: { message: 'no right', stackTrace: 'at somewhere on this machine' },
      input: payload(JSON.stringify({ name: 'customer-x', run: runs[0] })),
    };
    expect(makeAnonymous(history, new Map([['customer-x', 'row']]))).toEqual({
      eventTime: '2026-11-16T08:00:00.123Z',
      identity: 'worker@keelson',
      runId: '00000000-0000-4000-8000-000000000001',
      parent: '00000000-0000-4000-8000-000000000002',
      operation: 'valkey-cluster/default/cache/create/00000000-1.1',
      failure: { message: 'no right', stackTrace: '' },
      input: payload(JSON.stringify({ name: 'row', run: '00000000-0000-4000-8000-000000000001' })),
    });
  });
});
