import { expect, it } from 'vitest';
import { startConsumer } from '../../../starter/events/consumer.ts';
import type { MessageQueue, QueueMessage } from '../../../starter/events/queue.ts';

const INSTANCE = 'i-0123456789abcdef0';
const WARNING = JSON.stringify({
  'detail-type': 'EC2 Spot Instance Interruption Warning',
  source: 'aws.ec2',
  time: '2026-11-16T12:00:00Z',
  detail: { 'instance-id': INSTANCE, 'instance-action': 'terminate' },
});

/** A queue in memory, which gives what was released again, and writes down what is asked of it. */
class MemoryQueue implements MessageQueue {
  readonly story: string[];
  readonly #waiting: QueueMessage[];
  #arrived: () => void = () => {};

  constructor(story: string[], bodies: readonly string[]) {
    this.story = story;
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

  release(message: QueueMessage): Promise<void> {
    this.story.push(`released ${message.id}`);
    this.#waiting.push({ ...message, received: message.received + 1 });
    this.#arrived();
    return Promise.resolve();
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
    new MemoryQueue(watched, bodies),
    {
      store: {
        read: (_, id) => Promise.resolve(id === INSTANCE ? [AGENT] : []),
        write: () => Promise.resolve(0),
      },
      entities: {
        notice(agent, notice) {
          left -= 1;
          if (left >= 0) return Promise.reject(new Error('Temporal does not answer'));
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
    'released m0',
    'told agent-1 of termination from eventbridge',
    'removed m0',
    'closed',
  ]);
  expect(warnings).toEqual(['Temporal does not answer']);
});

it('leaves poison to the redrive policy and says why, and is not held up by it', async () => {
  const { story, warnings } = await consume(['poison', WARNING], 2);
  expect(story).toEqual(['told agent-1 of termination from eventbridge', 'removed m1', 'closed']);
  expect(warnings).toEqual(['it is not JSON']);
});

it('removes what concerns no agent, or the queue would fill up with it', async () => {
  const { story } = await consume([WARNING.replace(INSTANCE, 'i-00000000')], 1);
  expect(story).toEqual(['removed m0', 'closed']);
});

it('wakes an agent whose instance has changed its state', async () => {
  const change = { 'instance-id': INSTANCE, state: 'stopping' };
  const body = {
    'detail-type': 'EC2 Instance State-change Notification',
    source: 'aws.ec2',
    time: '2026-11-16T12:00:00Z',
    detail: change,
  };
  const { story } = await consume([JSON.stringify(body)], 2);
  expect(story).toEqual(['woke agent-1', 'removed m0', 'closed']);
});
