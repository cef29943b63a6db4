import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import { TASK_QUEUE } from '../../../workflows/shared/messages.ts';
import { FLEET_SWEEP_WORKFLOW } from '../../../workflows/spot-agent/contract.ts';

const SCHEDULE = 'spot-agent-fleet-sweep';

/** Has the fleet swept every ten minutes, by a schedule of Temporal's own; one that is there stays as it is. */
export async function scheduleFleetSweep(client: Client): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId: SCHEDULE,
      spec: { intervals: [{ every: '10 minutes' }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
      action: {
        type: 'startWorkflow',
        workflowType: FLEET_SWEEP_WORKFLOW,
        workflowId: SCHEDULE,
        taskQueue: TASK_QUEUE,
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
