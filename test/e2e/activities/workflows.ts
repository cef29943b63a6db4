import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';

/** One activity to be called, and its time-outs. */
export interface Call {
  readonly activity: string;
  readonly input: unknown;
  readonly startToCloseMs: number;
  readonly heartbeatMs: number;
}

/** Calls one activity by name, as an operation would. */
export async function callActivity(call: Call): Promise<unknown> {
  const activities = proxyActivities({
    startToCloseTimeout: call.startToCloseMs,
    heartbeatTimeout: call.heartbeatMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: 100, maximumInterval: 1_000 },
  });
  const activity = activities[call.activity];
  if (activity === undefined) throw new Error(`there is no activity ${call.activity}`);
  return activity(call.input);
}
