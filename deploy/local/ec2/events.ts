/** One event of EC2, as EventBridge tells it. */
export interface InstanceEvent {
  readonly type:
    | 'EC2 Spot Instance Interruption Warning'
    | 'EC2 Instance Rebalance Recommendation'
    | 'EC2 Instance State-change Notification';
  readonly instanceId: string;
  readonly detail: Readonly<Record<string, string>>;
}

const ACCOUNT = '123456789012';
/** A message that was received so often, and never removed, is put aside. */
const MOST_RECEIVES = 5;

/** EventBridge and SQS of the emulator behind, which tells of nothing by itself. */
export class EventBus {
  readonly #motoUrl: string;
  /** Events go out one after the other: what an instance goes through is told in its order. */
  #sending: Promise<unknown> = Promise.resolve();

  constructor(motoUrl: string) {
    this.#motoUrl = motoUrl;
  }

  /** Tells of events, and does not keep whoever caused them waiting. */
  emit(region: string, ...events: readonly InstanceEvent[]): void {
    const Entries = events.map(({ type, instanceId, detail }) => ({
      Source: 'aws.ec2',
      DetailType: type,
      Resources: [`arn:aws:ec2:${region}:instance/${instanceId}`],
      Detail: JSON.stringify({ 'instance-id': instanceId, ...detail }),
    }));
    this.#sending = this.#sending
      .then(() => this.#call(region, 'events', 'AWSEvents.PutEvents', { Entries }))
      .catch((error: unknown) => console.error('an event was not told:', error));
  }

  /** A queue that gets every event of EC2, and beside it one for what nobody could take; gives its address. */
  async openQueue(name: string, region: string): Promise<string> {
    const create = async (queue: string, attributes: object): Promise<string> => {
      const asked = { QueueName: queue, Attributes: attributes };
      const { QueueUrl } = await this.#call(region, 'sqs', 'AmazonSQS.CreateQueue', asked);
      return String(QueueUrl);
    };
    await create(`${name}-dead`, {});
    const deadLetterTargetArn = `arn:aws:sqs:${region}:${ACCOUNT}:${name}-dead`;
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: MOST_RECEIVES });
    const url = await create(name, { RedrivePolicy });
    const EventPattern = JSON.stringify({ source: ['aws.ec2'] });
    await this.#call(region, 'events', 'AWSEvents.PutRule', { Name: name, EventPattern });
    const Targets = [{ Id: name, Arn: `arn:aws:sqs:${region}:${ACCOUNT}:${name}` }];
    await this.#call(region, 'events', 'AWSEvents.PutTargets', { Rule: name, Targets });
    return url;
  }

  async #call(
    region: string,
    service: string,
    target: string,
    body: object,
  ): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(this.#motoUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': target,
        authorization: `AWS4-HMAC-SHA256 Credential=keelson/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=0`,
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${target}: ${response.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  }
}

/** What an instance goes through, one state after the other. */
export const stateChanges = (instanceId: string, states: readonly string[]): readonly InstanceEvent[] =>
  states.map((state) => ({
    type: 'EC2 Instance State-change Notification',
    instanceId,
    detail: { state },
  }));
