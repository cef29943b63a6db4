import { setTimeout as delay } from 'node:timers/promises';
import { backOffMs } from '../back-off.ts';
import { deliver, type Recipients } from './delivery.ts';
import { readEc2Event } from './ec2-event.ts';
import type { MessageQueue, QueueMessage } from './queue.ts';

const BACK_OFF = { firstMs: 1_000, limitMs: 30_000 } as const;
/** One agent whose workflow does not answer keeps its own messages waiting, and nobody else's. */
const MOST_IN_WORK = 100;
/** What is told of a message that is thrown away: enough to find out who sent it. */
const TOLD_OF_A_BODY = 500;

/** Where a consumer says what it does. */
export interface ConsumerLog {
  info(fields: object, words: string): void;
  warn(fields: object, words: string): void;
}

/** Reads events from a queue until it is stopped. */
export interface Consumer {
  /** Lets what is being delivered end, and receives no more. */
  stop(): Promise<void>;
}

/** What a message is taken with. */
interface Desk extends Recipients {
  readonly queue: MessageQueue;
  readonly log: ConsumerLog;
}

/**
 * Hands every event to the agent that it concerns. A message is removed only when the workflow has it: whatever dies
 * before, the message comes again, and a repetition has no second effect.
 */
export function startConsumer(queue: MessageQueue, recipients: Recipients, log: ConsumerLog): Consumer {
  const stopping = new AbortController();
  const { signal } = stopping;
  const inWork = new Set<Promise<void>>();
  const desk: Desk = { ...recipients, queue, log };
  const begin = (message: QueueMessage): void => {
    const work = take(desk, message).finally(() => inWork.delete(work));
    inWork.add(work);
  };
  const run = async (): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      try {
        for (const message of await queue.receive(signal)) begin(message);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        log.warn({ reason: wordsOf(error) }, 'the queue does not answer');
        await delay(backOffMs(BACK_OFF, failures, Math.random()), undefined, { signal }).catch(() => {
          // It is stopping, which the loop sees.
        });
      }
      if (inWork.size >= MOST_IN_WORK) await Promise.race(inWork);
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
      await Promise.all(inWork);
      queue.close();
    },
  };
}

async function take(desk: Desk, message: QueueMessage): Promise<void> {
  const { queue, log } = desk;
  const about = { message: message.id, received: message.received };
  try {
    const { end, says } = await deliver(desk, readEc2Event(message.body, Date.now()));
    if (end === 'poison') return await putAside(desk, message, says);
    await queue.remove(message);
    log.info(about, says);
  } catch (error) {
    log.warn({ ...about, reason: wordsOf(error) }, 'an event was not delivered, and comes again');
    await giveBack(desk, message);
  }
}

/** Nothing makes an event of it: it is not tried for long, and goes at once to where a person finds it. */
async function putAside({ queue, log }: Desk, message: QueueMessage, reason: string): Promise<void> {
  const about = { message: message.id, received: message.received, reason };
  if (await queue.hasDeadLetters()) {
    log.warn(about, 'a message is no event: it goes to the dead-letter queue');
    return queue.release(message, 0);
  }
  const body = message.body.slice(0, TOLD_OF_A_BODY);
  log.warn(
    { ...about, body },
    'a message is no event, and the queue has no dead-letter queue: it is removed',
  );
  return queue.remove(message);
}

/** While the database or Temporal is away, a message is not used up by trying: it waits longer each time it fails. */
async function giveBack({ queue, log }: Desk, message: QueueMessage): Promise<void> {
  const afterMs = backOffMs(BACK_OFF, message.received, Math.random());
  try {
    await queue.release(message, Math.ceil(afterMs / 1_000));
  } catch (error) {
    log.warn({ message: message.id, reason: wordsOf(error) }, 'it comes again when its time is over');
  }
}

/** What went wrong, and what was behind it: clients are not told that, and whoever reads the log is. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${wordsOf(error.cause)})`;
}
