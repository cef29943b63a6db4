import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';

/** One message, as long as nobody else may receive it. */
export interface QueueMessage {
  readonly id: string;
  readonly body: string;
  /** How often it was received, with this time. */
  readonly received: number;
  readonly receipt: string;
}

/** A queue of which every message is received at least once. */
export interface MessageQueue {
  /** Waits for messages, and answers none when there are none for a while. */
  receive(signal: AbortSignal): Promise<readonly QueueMessage[]>;
  /** Ends a message: it never comes again. */
  remove(message: QueueMessage): Promise<void>;
  /** Gives a message back, so that whoever asks after so many seconds receives it. */
  release(message: QueueMessage, afterSeconds: number): Promise<void>;
  /** Whether a message that was given back too often is put aside in another queue. */
  hasDeadLetters(): Promise<boolean>;
  close(): void;
}

const WAIT_SECONDS = 20;
const MOST = 10;
/** Longer than a message is ever worked on, so that nobody else works on it meanwhile. */
const HIDDEN_SECONDS = 60;

/** The queue at this address; region and credentials come from AWS's own sources. */
export function openQueue(url: string): MessageQueue {
  const client = new SQSClient({ region: regionOf(url), endpoint: new URL(url).origin });
  return {
    async receive(signal) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: url,
          MaxNumberOfMessages: MOST,
          WaitTimeSeconds: WAIT_SECONDS,
          VisibilityTimeout: HIDDEN_SECONDS,
          MessageSystemAttributeNames: ['ApproximateReceiveCount'],
        }),
        { abortSignal: signal },
      );
      return Messages.map((one) => ({
        id: one.MessageId ?? '',
        body: one.Body ?? '',
        received: Number(one.Attributes?.ApproximateReceiveCount ?? 1),
        receipt: one.ReceiptHandle ?? '',
      }));
    },
    async remove({ receipt }) {
      await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: receipt }));
    },
    async release({ receipt }, afterSeconds) {
      const give = { QueueUrl: url, ReceiptHandle: receipt, VisibilityTimeout: afterSeconds };
      await client.send(new ChangeMessageVisibilityCommand(give));
    },
    async hasDeadLetters() {
      const asked = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['RedrivePolicy'] });
      const { Attributes = {} } = await client.send(asked);
      return (Attributes.RedrivePolicy ?? '') !== '';
    },
    close: () => client.destroy(),
  };
}

/** `https://sqs.eu-west-1.amazonaws.com/…` says its region; any other address leaves it to the environment. */
const regionOf = (url: string): string =>
  /^sqs\.([a-z0-9-]+)\.amazonaws\./.exec(new URL(url).host)?.[1] ??
  process.env['AWS_REGION'] ??
  process.env['AWS_DEFAULT_REGION'] ??
  'us-east-1';
