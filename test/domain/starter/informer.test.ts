import { describe, expect, it } from 'vitest';
import { Informer } from '../../../starter/informer.ts';
import type { Change, InformerTimes } from '../../../starter/informer.ts';
import { fieldOf, textOf } from '../../../starter/object-field.ts';
import { ScriptedApiServer } from './scripted-api-server.ts';
import type { Answer } from './scripted-api-server.ts';

const QUICK: InformerTimes = {
  resyncMs: 60_000,
  requestMs: 1_000,
  watchMs: 1_000,
  idleMs: 60_000,
  backOff: { firstMs: 1, limitMs: 5 },
};
const WITHIN = { timeout: 90_000, interval: 20 };

const object = (name: string, version: string, more: object = {}) => ({
  metadata: { namespace: 'a', name, resourceVersion: version, ...more },
});
const list = (version: string, ...items: readonly object[]): Answer => ({
  status: 200,
  body: { metadata: { resourceVersion: version }, items },
});
const event = (type: string, of: object) => ({ type, object: of });
const GONE = { type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old resource version' } };

/** Plays a script to an informer and hands over what it told, until the work is done. */
async function play(
  script: readonly Answer[],
  work: (stage: {
    readonly told: readonly string[];
    readonly failed: readonly string[];
    readonly asked: readonly URLSearchParams[];
    readonly informer: Informer<string>;
  }) => Promise<void>,
  options: {
    readonly times?: Partial<InformerTimes>;
    readonly changed?: (change: Change<string>) => void;
  } = {},
): Promise<void> {
  await using server = await ScriptedApiServer.start(...script);
  const told: string[] = [];
  const failed: string[] = [];
  const informer = new Informer<string>({
    api: server.api,
    path: '/api/v1/lamps',
    times: { ...QUICK, ...options.times },
    project: (one) => {
      const metadata = fieldOf(one, 'metadata');
      if (textOf(metadata, 'broken') !== null) throw new Error('it is broken');
      return `${textOf(metadata, 'name')}@${textOf(metadata, 'resourceVersion')}`;
    },
    changed: (change) => {
      options.changed?.(change);
      told.push(change.is === 'gone' ? `gone ${change.before}` : `${change.before ?? 'new'} → ${change.now}`);
    },
    failed: (what, error) =>
      failed.push(`${what}: ${error instanceof Error ? error.message : String(error)}`),
  });
  const stopping = new AbortController();
  const running = informer.run(stopping.signal);
  await work({ told, failed, asked: server.asked, informer });
  stopping.abort();
  await running;
}

describe('an informer', () => {
  it('backs off from watches that end as soon as they are opened, and lists again after a few', () => {
    const ended: Answer = { lines: [] };
    return play(
      [list('5', object('x', '4')), ended, ended, ended, ended, ended, ended, list('9', object('x', '8'))],
      async ({ told, failed }) => {
        await expect.poll(() => told, WITHIN).toEqual(['new → x@4', 'x@4 → x@8']);
        expect(failed).toEqual(Array(6).fill('watch: the watch ended as soon as it was opened'));
      },
    );
  });

  it('lists in pages, then tells each change with what was before, and goes on from the last version', () =>
    play(
      [
        {
          status: 200,
          body: { metadata: { resourceVersion: '5', continue: 'page2' }, items: [object('x', '3')] },
        },
        list('5', object('y', '4')),
        {
          lines: [
            event('MODIFIED', object('x', '6')),
            event('DELETED', object('y', '7')),
            event('ADDED', object('z', '8')),
            event('BOOKMARK', { metadata: { resourceVersion: '20' } }),
          ],
        },
      ],
      async ({ told, failed, asked, informer }) => {
        await expect.poll(() => asked.length, WITHIN).toBe(4);
        expect(told).toEqual(['new → x@3', 'new → y@4', 'x@3 → x@6', 'gone y@4', 'new → z@8']);
        expect(failed).toEqual([]);
        expect(asked[1]?.get('continue')).toBe('page2');
        expect(asked[2]?.get('resourceVersion')).toBe('5');
        expect(asked[2]?.get('allowWatchBookmarks')).toBe('true');
        expect(asked[2]?.get('timeoutSeconds')).toBe('1');
        expect(asked[3]?.get('resourceVersion')).toBe('20');
        expect(informer.state).toBe('synced');
        expect(informer.find('a', 'z')).toBe('z@8');
        expect(informer.find('a', 'y')).toBeNull();
      },
    ));

  it.each([
    ['in the stream', { lines: [GONE] }],
    ['as an answer', { status: 410, body: { reason: 'Expired', message: 'too old' } }],
  ] as const)(
    'lists again when its version is too old (%s), and tells what is gone meanwhile',
    (_, expired) =>
      play(
        [list('5', object('x', '3'), object('y', '4')), expired, list('9', object('x', '8'))],
        async ({ told, failed }) => {
          await expect.poll(() => told, WITHIN).toEqual(['new → x@3', 'new → y@4', 'x@3 → x@8', 'gone y@4']);
          expect(failed).toEqual([]);
        },
      ),
  );

  it('lists again after a while, so that nothing stays missed', () =>
    play(
      [list('5', object('x', '3')), list('9', object('x', '3'), object('y', '6'))],
      async ({ told }) => {
        await expect.poll(() => told, WITHIN).toEqual(['new → x@3', 'x@3 → x@3', 'new → y@6']);
      },
      { times: { resyncMs: 0 } },
    ));

  it('does not take an answer that is no list for an empty one', () =>
    play(
      [
        list('5', object('x', '3')),
        { lines: [GONE] },
        { lines: ['<html>who are you?</html>'] },
        { status: 200, body: {} },
        list('9', object('x', '8')),
      ],
      async ({ told, failed }) => {
        await expect.poll(() => told, WITHIN).toEqual(['new → x@3', 'x@3 → x@8']);
        expect(failed).toEqual([
          'list: the answer is no list of objects',
          'list: the answer is no list of objects',
        ]);
      },
    ));

  it('does not take an object that can no longer be read for one that is gone', () =>
    play(
      [
        list('5', object('x', '3')),
        { lines: [GONE] },
        list('9', object('x', '8', { broken: 'yes' })),
        { lines: [GONE] },
        list('12', object('x', '11')),
      ],
      async ({ told }) => {
        await expect.poll(() => told, WITHIN).toEqual(['new → x@3', 'x@3 → x@3', 'x@3 → x@11']);
      },
    ));

  it('waits and tries again when it is refused, and says when the type is not there', () =>
    play(
      [
        { status: 404, body: { message: 'no such thing' } },
        { status: 500, body: { message: 'etcd is away' } },
        list('5', object('x', '3')),
        { status: 503, body: { message: 'busy' } },
        { lines: [event('MODIFIED', object('x', '6'))] },
      ],
      async ({ told, failed }) => {
        await expect.poll(() => told, WITHIN).toEqual(['new → x@3', 'x@3 → x@6']);
        expect(failed).toEqual(['list: no such thing', 'list: etcd is away', 'watch: busy']);
      },
    ));

  it('opens a watch anew that gives no sign, from where it was', () =>
    play(
      [
        list('5', object('x', '3')),
        { lines: [event('MODIFIED', object('x', '6'))], open: true },
        { lines: [event('MODIFIED', object('x', '7'))], open: true },
      ],
      async ({ told, failed, asked }) => {
        await expect.poll(() => told, WITHIN).toEqual(['new → x@3', 'x@3 → x@6', 'x@6 → x@7']);
        expect(failed).toContain('stalled: no event and no bookmark for 0.2 s');
        expect(asked[2]?.get('resourceVersion')).toBe('6');
      },
      { times: { idleMs: 200 } },
    ));

  it('survives objects that cannot be read, lines that are no JSON, and handlers that throw', () =>
    play(
      [
        list('5', object('x', '3', { broken: 'yes' }), object('y', '4')),
        { lines: [event('MODIFIED', object('y', '6')), '{"type": "MODI'] },
        { lines: [event('MODIFIED', object('y', '7'))] },
      ],
      async ({ told, failed }) => {
        await expect.poll(() => told, WITHIN).toEqual(['new → y@4', 'y@6 → y@7']);
        expect(failed[0]).toBe('object: it is broken');
        expect(failed[1]).toBe('handler: the handler fell over');
        expect(failed[2]).toMatch(/^watch: .*JSON/);
      },
      {
        changed: (change) => {
          if (change.is === 'seen' && change.now === 'y@6') throw new Error('the handler fell over');
        },
      },
    ));
});
