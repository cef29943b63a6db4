import { expect, it } from 'vitest';
import { startConsumer } from '../../../starter/events/consumer.ts';
import type { MessageQueue, QueueMessage } from '../../../starter/events/queue.ts';

/** An event is of these days, or it is none. */
const TIME = new Date().toISOString();
const INSTANCE = 'i-0123456789abcdef0';
const WARNING = JSON.stringify({
  'detail-type': 'EC2 Spot Instance Interruption Warning',
  source: 'aws.ec2',
  time: TIME,
  detail: { 'instance-id': INSTANCE, 'instance-action': 'terminate' },
});

const STATE_CHANGE = JSON.stringify({
  'detail-type': 'EC2 Instance State-change Notification',
  source: 'aws.ec2',
  time: TIME,
  detail: { 'instance-id': INSTANCE, state: 'stopping' },
});

const MOST_RECEIVES = 3;

/** A queue in memory, which gives what was released again, and writes down what is asked of it. */
class MemoryQueue implements MessageQueue {
  readonly story: string[];
  readonly #waiting: QueueMessage[];
  readonly #deadLetters: boolean;
  #arrived: () => void = () => {};

  constructor(story: string[], bodies: readonly string[], deadLetters: boolean) {
    this.story = story;
    this.#deadLetters = deadLetters;
    this.#waiting = bodies.map((body, at) => ({ id: `m${at}`, body, received: 1, receipt: `m${at}` }));
  }

  async receive(signal: AbortSignal): Promise<readonly QueueMessage[]> {
    if (this.#waiting.length === 0)
      await new Promise<void>((resolve, reject) => {
        this.#arrived = resolve;
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      });
    return this.#waiting.splice(0);
  }

  remove({ id }: QueueMessage): Promise<void> {
    this.story.push(`removed ${id}`);
    return Promise.resolve();
  }

  release(message: QueueMessage, afterSeconds: number): Promise<void> {
    this.story.push(`released ${message.id} for ${afterSeconds} s`);
    if (this.#deadLetters && message.received === MOST_RECEIVES) this.story.push(`put ${message.id} aside`);
    else this.#waiting.push({ ...message, received: message.received + 1 });
    this.#arrived();
    return Promise.resolve();
  }

  hasDeadLetters(): Promise<boolean> {
    return Promise.resolve(this.#deadLetters);
  }

  close(): void {
    this.story.push('closed');
  }
}

const AGENT = { id: 'agent-1', clientId: 'acme', uid: 'u', epoch: 0, generation: 1, primaryId: INSTANCE };

/** Consumes until the story has so many lines; Temporal refuses the first notices. */
async function consume(
  bodies: readonly string[],
  lines: number,
  refusals = 0,
  deadLetters = true,
): Promise<{ readonly story: readonly string[]; readonly warnings: readonly string[] }> {
  const story: string[] = [];
  const warnings: string[] = [];
  let left = refusals;
  const enough = Promise.withResolvers<void>();
  const watched = new Proxy(story, {
    set(target, key, value) {
      const set = Reflect.set(target, key, value);
      if (target.length >= lines) enough.resolve();
      return set;
    },
  });
  const consumer = startConsumer(
    new MemoryQueue(watched, bodies, deadLetters),
    {
      store: {
        read: (_, id) => Promise.resolve(id === INSTANCE ? [AGENT] : []),
        write: () => Promise.resolve(0),
      },
      entities: {
        notice(agent, notice) {
          left -= 1;
          if (left >= 0)
            return Promise.reject(new Error('Temporal does not answer', { cause: new Error('no route') }));
          watched.push(`told ${agent.id} of ${notice.kind} from ${notice.source}`);
          const rest = { replicaId: null, primary: null, epoch: 1, deadlineMs: null };
          return Promise.resolve({ effect: 'new', action: 'none', message: 'told', ...rest });
        },
        hint: (agent) => Promise.resolve(void watched.push(`woke ${agent.id}`)),
      },
    },
    {
      info: () => {},
      warn: (fields) => warnings.push(String((fields as { readonly reason: unknown }).reason)),
    },
  );
  await enough.promise;
  await consumer.stop();
  return { story, warnings };
}

it('removes a message only when the workflow has been told', async () => {
  const { story } = await consume([WARNING], 2);
  expect(story).toEqual(['told agent-1 of termination from eventbridge', 'removed m0', 'closed']);
});

it('gives a message back that could not be told, and tells it when that is possible', async () => {
  const { story, warnings } = await consume([WARNING], 3, 1);
  expect(story).toEqual([
    'released m0 for 1 s',
    'told agent-1 of termination from eventbridge',
    'removed m0',
    'closed',
  ]);
  expect(warnings).toEqual(['Temporal does not answer (no route)']);
});

it('puts poison aside and says why, and is not held up by it', async () => {
  const { story, warnings } = await consume(['poison', WARNING], 6);
  expect(story.filter((line) => !line.includes('m0'))).toEqual([
    'told agent-1 of termination from eventbridge',
    'removed m1',
    'closed',
  ]);
  expect(story.filter((line) => line.includes('m0'))).toEqual([
    ...Array.from({ length: MOST_RECEIVES }, () => 'released m0 for 0 s'),
    'put m0 aside',
  ]);
  expect(warnings).toEqual(Array.from({ length: MOST_RECEIVES }, () => 'it is not JSON'));
});

it('removes poison where nothing would ever put it aside', async () => {
  const { story, warnings } = await consume(['poison'], 1, 0, false);
  expect(story).toEqual(['removed m0', 'closed']);
  expect(warnings).toEqual(['it is not JSON']);
});

it('keeps nobody waiting for an agent whose workflow does not answer', async () => {
  const woken = Promise.withResolvers<void>();
  const story: string[] = [];
  const queue = new MemoryQueue(story, [WARNING, STATE_CHANGE], true);
  const all = queue.receive.bind(queue);
  const held: QueueMessage[] = [];
  // One at a time: what is behind comes only when it is asked for.
  queue.receive = async (signal) => {
    if (held.length === 0) held.push(...(await all(signal)));
    return held.splice(0, 1);
  };
  const consumer = startConsumer(
    queue,
    {
      store: { read: () => Promise.resolve([AGENT]), write: () => Promise.resolve(0) },
      entities: {
        notice: () => woken.promise.then(() => Promise.reject(new Error('too late'))),
        hint: () => Promise.resolve(woken.resolve()),
      },
    },
    { info: () => {}, warn: () => {} },
  );
  await woken.promise;
  await consumer.stop();
  expect(story.toSorted()).toEqual(['closed', 'released m0 for 1 s', 'removed m1']);
});

it('removes what concerns no agent, or the queue would fill up with it', async () => {
  const { story } = await consume([WARNING.replace(INSTANCE, 'i-00000000')], 1);
  expect(story).toEqual(['removed m0', 'closed']);
});

it('wakes an agent whose instance has changed its state', async () => {
  const { story } = await consume([STATE_CHANGE], 2);
  expect(story).toEqual(['woke agent-1', 'removed m0', 'closed']);
});
