import { z } from 'zod';

/** What a message of the queue turned out to be. */
export type Ec2Event =
  | {
      readonly is: 'notice';
      readonly kind: 'rebalance' | 'termination';
      readonly instanceId: string;
      readonly timeMs: number;
    }
  | { readonly is: 'state'; readonly instanceId: string; readonly state: string }
  /** An event that somebody else's rule let through: nothing of it concerns an agent. */
  | { readonly is: 'foreign'; readonly reason: string }
  /** What no event can be: a person should look at it. */
  | { readonly is: 'poison'; readonly reason: string };

const envelope = z.object({
  source: z.string(),
  'detail-type': z.string(),
  time: z.iso.datetime({ offset: true }),
  detail: z.unknown(),
});
const instance = z.object({ 'instance-id': z.string().regex(/^i-[0-9a-f]{8,17}$/) });
const stateChange = instance.extend({ state: z.string() });

/** The longest that a queue keeps a message. */
const OLDEST_MS = 14 * 86_400_000;
/** What two clocks may differ by. */
const SKEW_MS = 300_000;

/** Reads the body of a message as EventBridge delivers it; nothing is thrown, whatever it is. */
export function readEc2Event(body: string, nowMs: number): Ec2Event {
  const json = parseJson(body);
  if (json === undefined) return { is: 'poison', reason: 'it is not JSON' };
  const parsed = envelope.safeParse(json);
  if (!parsed.success) return poison(parsed.error);
  const { source, 'detail-type': type, time, detail } = parsed.data;
  const timeMs = Date.parse(time);
  if (timeMs > nowMs + SKEW_MS || timeMs < nowMs - OLDEST_MS)
    return { is: 'poison', reason: `time: ${time} is not of these days` };
  if (source !== 'aws.ec2') return { is: 'foreign', reason: `it comes from ${source}` };
  switch (type) {
    case 'EC2 Spot Instance Interruption Warning':
      return readNotice('termination', detail, timeMs);
    case 'EC2 Instance Rebalance Recommendation':
      return readNotice('rebalance', detail, timeMs);
    case 'EC2 Instance State-change Notification': {
      const found = stateChange.safeParse(detail);
      if (!found.success) return poison(found.error);
      return { is: 'state', instanceId: found.data['instance-id'], state: found.data.state };
    }
    default:
      return { is: 'foreign', reason: `nothing is done about "${type}"` };
  }
}

function readNotice(kind: 'rebalance' | 'termination', detail: unknown, timeMs: number): Ec2Event {
  const found = instance.safeParse(detail);
  if (!found.success) return poison(found.error);
  return { is: 'notice', kind, instanceId: found.data['instance-id'], timeMs };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const poison = (error: z.ZodError): Ec2Event => ({
  is: 'poison',
  reason: error.issues.map((issue) => `${issue.path.join('.') || 'it'}: ${issue.message}`).join('; '),
});
