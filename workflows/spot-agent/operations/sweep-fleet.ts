import type { Ec2Activities } from '../../../activities/ec2/contract.ts';
import type { MysqlActivities } from '../../../activities/mysql/contract.ts';
import { failureOf } from '../../shared/failures.ts';
import type { Port } from '../../shared/port.ts';
import { basicPort } from '../../shared/temporal-port.ts';
import { judgeOrphans, type OrphanVerdict, type TaggedInstance } from '../domain/orphans.ts';

type FleetPort = Pick<Port<MysqlActivities & Ec2Activities>, 'act' | 'wait' | 'workflowId'>;

/** What a sweep of the whole fleet has found, and where it could not look or heal. */
export interface FleetReport {
  readonly terminated: readonly string[];
  readonly reported: readonly string[];
  readonly failed: readonly { readonly at: string; readonly reason: string }[];
}

/** A report while it is written. */
interface Findings {
  readonly terminated: string[];
  readonly reported: string[];
  readonly failed: { readonly at: string; readonly reason: string }[];
}

/** Finds what no entity can find, because its agent has none: instances whose agent's row is gone. */
export async function sweepFleet(port: FleetPort): Promise<FleetReport> {
  const found: Findings = { terminated: [], reported: [], failed: [] };
  for (const region of await port.act('the regions').readSpotRegions())
    await attempt(port, found, region, () => sweepRegion(port, found, region));
  return found;
}

async function sweepRegion(port: FleetPort, found: Findings, region: string): Promise<void> {
  const tagged = await port.act(`what runs in ${region}`).observeTaggedEc2Instances({ region });
  for (const verdict of await judged(port, tagged))
    await attempt(port, found, verdict.instance.id, () => heal(port, found, region, verdict));
}

async function heal(port: FleetPort, found: Findings, region: string, verdict: OrphanVerdict): Promise<void> {
  // Asked again for this one alone: ending it cannot be undone, and an agent may have come back meanwhile.
  const [again] = verdict.do === 'report' ? [verdict] : await judged(port, [verdict.instance]);
  if (again === undefined) return;
  await tell(port, again);
  if (again.do === 'terminate') await end(port, region, again);
  (again.do === 'terminate' ? found.terminated : found.reported).push(again.instance.id);
}

/** A region or an instance that fails is written down, and keeps no other from being swept. */
async function attempt(
  port: FleetPort,
  { failed }: Findings,
  at: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const known = failureOf(error);
    if (known === null || known.code === 'Cancelled') throw error;
    const reason = `${known.code}: ${known.message}`;
    failed.push({ at, reason });
    await port.act(`event: ${at}`).recordSpotEvent({
      key: `sweep_failed:${port.workflowId}:${at}`.slice(0, 190),
      agentId: null,
      clientId: null,
      instanceId: at.startsWith('i-') ? at : null,
      type: 'sweep_failed',
      severity: 'warning',
      message: `${at} could not be swept: ${reason}`,
    });
  }
}

async function judged(port: FleetPort, tagged: readonly TaggedInstance[]): Promise<readonly OrphanVerdict[]> {
  if (tagged.length === 0) return [];
  const remembered = await port.act('what is remembered of them').readSpotRemembrance({
    agentIds: [...new Set(tagged.map((one) => one.agentId))],
    instanceIds: tagged.map((one) => one.id),
    replicaIds: tagged.flatMap((one) => one.replica ?? []),
  });
  return judgeOrphans(tagged, remembered);
}

async function end(port: FleetPort, region: string, { instance }: OrphanVerdict): Promise<void> {
  const { id, agentId, launchedAtMs } = instance;
  const target = { region, agentId, instanceId: id, knownSinceMs: launchedAtMs };
  await port.act(`end ${id}`).terminateEc2Instance(target);
  await port.wait(`the end of ${id}`).awaitEc2Terminated(target);
  await port.act(`close the row of ${id}`).closeSpotInstance({ instanceId: id, event: 'CleanedUp' });
}

async function tell(port: FleetPort, { instance, do: what, reason }: OrphanVerdict): Promise<void> {
  await port.act(`event: ${instance.id}`).recordSpotEvent({
    key: `orphan:${what}:${instance.id}`,
    agentId: instance.agentId,
    clientId: instance.clientId,
    instanceId: instance.id,
    type: what === 'terminate' ? 'orphan_terminating' : 'orphan_found',
    severity: 'warning',
    message: reason,
  });
}

/** The workflow of one sweep of the fleet, which a schedule starts. */
export const sweepSpotFleet = (): Promise<FleetReport> =>
  sweepFleet(basicPort<MysqlActivities & Ec2Activities>());
