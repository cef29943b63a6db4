import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { prepareBundle } from '../../worker/bundle.ts';
import { makeAnonymous } from './anonymous.ts';
import { readHistories, workflowsOf } from './history-file.ts';

const CHANGED = fileURLToPath(new URL('./changed-workflow.ts', import.meta.url));
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

async function replay(
  workflowsPath: string,
  { history, workflowId }: (typeof histories)[number],
): Promise<void> {
  const codePath = await prepareBundle(logger, { workflowsPath });
  await Worker.runReplayHistory({ workflowBundle: { codePath } }, history, workflowId);
}

describe('every recorded history', () => {
  it.each(histories)('of $lifecycle is replayed: $name', async (recorded) => {
    await expect(replay(workflowsOf(recorded.lifecycle), recorded)).resolves.toBeUndefined();
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
  const of = (prefix: string) =>
    histories.filter(({ lifecycle, name }) => lifecycle === 'lamp-row' && name.startsWith(prefix));

  it.each([...of('row-'), ...of('light-up')])('is caught by $name', async (recorded) => {
    await expect(replay(CHANGED, recorded)).rejects.toThrow(/[Nn]ondeterminism/);
  });

  it('has histories to be caught by', () => {
    expect(of('row-').length).toBeGreaterThan(0);
    expect(of('light-up').length).toBeGreaterThan(0);
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
      input: payload(JSON.stringify({ name: 'customer-x', run: runs[0] })),
    };
    expect(makeAnonymous(history, new Map([['customer-x', 'row']]))).toEqual({
      eventTime: '2026-11-16T08:00:00.123Z',
      identity: 'worker@keelson',
      runId: '00000000-0000-4000-8000-000000000001',
      parent: '00000000-0000-4000-8000-000000000002',
      input: payload(JSON.stringify({ name: 'row', run: '00000000-0000-4000-8000-000000000001' })),
    });
  });
});
