import { setTimeout as delay } from 'node:timers/promises';
import { backOffMs } from '../back-off.ts';
import { deliver, type Delivery, type Recipients } from './delivery.ts';
import { readEc2Event } from './ec2-event.ts';
import type { MessageQueue, QueueMessage } from './queue.ts';

const BACK_OFF = { firstMs: 1_000, limitMs: 30_000 } as const;

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

/**
 * Hands every event to the agent that it concerns. A message is removed only when the workflow has it: whatever dies
 * before, the message comes again, and a repetition has no second effect.
 */
export function startConsumer(queue: MessageQueue, recipients: Recipients, log: ConsumerLog): Consumer {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async (): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      try {
        const messages = await queue.receive(signal);
        const all = await Promise.all(messages.map((message) => take(queue, recipients, log, message)));
        // While the database or Temporal is away, messages stay in the queue and are not used up by trying.
        failures = all.includes('failed') ? failures + 1 : 0;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        log.warn({ reason: wordsOf(error) }, 'the queue does not answer');
      }
      if (failures > 0)
        await delay(backOffMs(BACK_OFF, failures, Math.random()), undefined, { signal }).catch(() => {
          // It is stopping, which the loop sees.
        });
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
      queue.close();
    },
  };
}

async function take(
  queue: MessageQueue,
  recipients: Recipients,
  log: ConsumerLog,
  message: QueueMessage,
): Promise<Delivery['end'] | 'failed'> {
  const about = { message: message.id, received: message.received };
  try {
    const { end, says } = await deliver(recipients, readEc2Event(message.body));
    if (end === 'left') {
      log.warn({ ...about, reason: says }, 'a message is no event: it is left to the redrive policy');
      return end;
    }
    await queue.remove(message);
    log.info(about, says);
    return end;
  } catch (error) {
    log.warn({ ...about, reason: wordsOf(error) }, 'an event was not delivered, and comes again');
    await giveBack(queue, log, message);
    return 'failed';
  }
}

/** An interruption does not wait: another replica of this process may have better luck at once. */
async function giveBack(queue: MessageQueue, log: ConsumerLog, message: QueueMessage): Promise<void> {
  try {
    await queue.release(message);
  } catch (error) {
    log.warn({ message: message.id, reason: wordsOf(error) }, 'it comes again when its time is over');
  }
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
