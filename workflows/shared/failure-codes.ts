/**
 * What a failure means for the operation:
 * `transient` is retried where it happened; `notYet` is an expected wait; `stale` observes and plans again;
 * `validation` waits for the resource to change; `permanent` waits for a person.
 */
export type FailureClass = 'transient' | 'notYet' | 'stale' | 'validation' | 'permanent';

/** One row of the registry: what the code means and what to do about it. */
export interface FailureKind {
  readonly class: FailureClass;
  readonly meaning: string;
  readonly remedy: string;
}

/** Every failure that Keelson can report, in one place. */
export const FAILURES = {
  Cancelled: {
    class: 'stale',
    meaning: 'The operation was cancelled from outside.',
    remedy: 'Nothing: the resource says what was undone. `keelson retry` carries the wish out after all.',
  },
  TimedOut: {
    class: 'transient',
    meaning: 'A step did not end within its time.',
    remedy:
      'Nothing at first: it is planned again. If it stays, the step in the Web UI names what it waited for.',
  },
  OperationExists: {
    class: 'transient',
    meaning: 'An operation of the same id still runs, started by an entity that was ended from outside.',
    remedy: 'Nothing: tried again. If it stays, cancel the workflow that the message names.',
  },
  Defect: {
    class: 'permanent',
    meaning: 'Keelson itself did something that it should never do, and stopped.',
    remedy:
      'Report it with the workflow id. Once a fix is deployed, `keelson retry` goes on from what is there.',
  },
  NoProgress: {
    class: 'stale',
    meaning: 'An operation ended well, and yet the very same plan is needed again.',
    remedy:
      'Somebody undoes what Keelson does: look for another writer of the same thing. Tried again, more and more rarely.',
  },
  GuardBlocked: {
    class: 'stale',
    meaning: 'A guard that allowed the plan refused just before a step that cannot be undone.',
    remedy: 'Read the guard in the condition; the operation waits until it allows.',
  },
  PhaseRefused: {
    class: 'permanent',
    meaning: 'The phase table has no row for what happened.',
    remedy: 'Report it with the workflow id: the lifecycle and its table disagree.',
  },
  InvalidInput: {
    class: 'validation',
    meaning: 'A workflow was started, or asked, with something that it cannot work with.',
    remedy: 'The message names the field; the lifecycle’s README shows the input.',
  },
  ResourceInvalid: {
    class: 'validation',
    meaning: 'The resource has a field that the API server let through and that cannot be acted on.',
    remedy: 'Change the field that the message names.',
  },
  DependencyMissing: {
    class: 'validation',
    meaning: 'The resource names something that does not exist or lacks what is needed.',
    remedy: 'Create what the message names, or change the field.',
  },
  ResourceGone: {
    class: 'stale',
    meaning: 'The object was deleted while it was being worked on.',
    remedy: 'Nothing: the world is observed again.',
  },
  ResourceReplaced: {
    class: 'stale',
    meaning: 'Another object stands under the same name now.',
    remedy: 'Nothing: the world is observed again.',
  },
  GenerationMoved: {
    class: 'stale',
    meaning: 'The spec changed between plan and step.',
    remedy: 'Nothing: the newest generation is planned.',
  },
  KubernetesUnavailable: {
    class: 'transient',
    meaning: 'The API server does not answer, or asks to come back later.',
    remedy: 'Nothing: retried. If it stays, look at the API server.',
  },
  KubernetesConflict: {
    class: 'transient',
    meaning: 'Somebody else wrote the object at the same moment.',
    remedy: 'Nothing: retried on the newest version.',
  },
  KubernetesForbidden: {
    class: 'permanent',
    meaning: 'The service account of the worker lacks a right.',
    remedy:
      'Grant the verb and resource that the message names (deploy/kustomize/base), then `keelson retry`.',
  },
  KubernetesInvalid: {
    class: 'validation',
    meaning: 'The API server refuses the object that the resource asks for.',
    remedy: 'Change the field of the resource that the message leads to.',
  },
  PodsNotReady: {
    class: 'notYet',
    meaning: 'Pods are not Ready yet.',
    remedy: 'The message has the kubelet’s words: an image, a probe, or no node with room.',
  },
  ValkeyUnreachable: {
    class: 'transient',
    meaning: 'A Valkey server does not accept a connection or does not answer in time.',
    remedy: 'Nothing at first: retried. If it stays, look at the pod.',
  },
  ValkeyProtocol: {
    class: 'transient',
    meaning: 'A Valkey server answered something that is not the protocol, or cut the connection.',
    remedy: 'Nothing at first: retried. If it stays, look at what listens on the pod’s port.',
  },
  ValkeyBusy: {
    class: 'transient',
    meaning: 'A Valkey server is loading its data, runs a script or has its clients paused.',
    remedy: 'Nothing: retried.',
  },
  ValkeyAuth: {
    class: 'validation',
    meaning: 'A Valkey server refuses the password or user.',
    remedy: 'Make the Secret that `spec.auth` names match what the servers run with.',
  },
  ValkeyAcl: {
    class: 'validation',
    meaning: 'The user may not run a command that the lifecycle needs.',
    remedy: 'Grant the command that the message names to the admin user.',
  },
  ValkeyRefused: {
    class: 'permanent',
    meaning: 'A Valkey server refuses a command for a reason that will not go away by itself.',
    remedy: 'The message has the server’s words; the runbook of the lifecycle goes on from there.',
  },
  ValkeySlotBusy: {
    class: 'stale',
    meaning: 'A slot is served by another node than the plan assumed.',
    remedy: 'Nothing: the topology is observed and planned again.',
  },
  ValkeyNotConverged: {
    class: 'notYet',
    meaning: 'The nodes do not agree yet on members, roles or slots.',
    remedy: 'Nothing: gossip needs a moment. If it stays, the message names who disagrees.',
  },
  ValkeyPodReplaced: {
    class: 'stale',
    meaning: 'The pod that the step was planned for is another one now.',
    remedy: 'Nothing: the world is observed again.',
  },
  ValkeyUpgradeFailed: {
    class: 'stale',
    meaning: 'A shard could not be brought to the version that an upgrade asks for.',
    remedy:
      'Nothing, where the upgrade rolls back or goes on by itself: its conditions say which. Otherwise correct what the message names and create another upgrade.',
  },
  ValkeyDataLost: {
    class: 'permanent',
    meaning:
      'A cluster that was running has slots that no node serves, and nothing here can bring them back.',
    remedy:
      'Follow docs/runbooks/valkey-data-lost.md: restore the volumes, or accept the loss by deleting the resource.',
  },
  MysqlUnavailable: {
    class: 'transient',
    meaning: 'The database does not accept a connection, does not answer in time, or is shutting down.',
    remedy: 'Nothing at first: retried. If it stays, look at the database and at KEELSON_MYSQL_URL.',
  },
  MysqlBusy: {
    class: 'transient',
    meaning: 'Another transaction held a row for too long, or two of them waited for each other.',
    remedy: 'Nothing: the transaction is done again.',
  },
  MysqlSchema: {
    class: 'transient',
    meaning: 'The database lacks a table, a column or the procedure.',
    remedy: 'Run `keelson db migrate` with the same URL; it goes on by itself then.',
  },
  MysqlRefused: {
    class: 'permanent',
    meaning: 'The database refuses the user, or a statement for a reason that will not go away by itself.',
    remedy: 'The message has the server’s words: follow docs/runbooks/mysql-refused.md.',
  },
  VersionConflict: {
    class: 'stale',
    meaning: 'Another promotion of the same agent won: the epoch is another one now.',
    remedy: 'Nothing: the rows are read and planned again.',
  },
  NotPromotable: {
    class: 'stale',
    meaning: 'The instance is no replica of this agent, or no longer.',
    remedy: 'Nothing: the rows are read and planned again.',
  },
  ReplicaNotReady: {
    class: 'stale',
    meaning: 'No replica has said in time that it is ready, or none could be launched.',
    remedy: 'Nothing: another pool is tried. `system_events` says what each launch has met.',
  },
  Ec2Unavailable: {
    class: 'transient',
    meaning: 'EC2 does not answer, answers with an error of its own, or asks to come back later.',
    remedy: 'Nothing at first: retried. Promotions do not need EC2 and go on.',
  },
  Ec2NoCapacity: {
    class: 'stale',
    meaning: 'EC2 has no capacity in the pool, or a limit of the account is reached.',
    remedy: 'Nothing: another pool is tried at once. More pools in the configuration help.',
  },
  Ec2Invalid: {
    class: 'validation',
    meaning: 'EC2 refuses what the launch configuration asks for.',
    remedy: 'Change what the message names: the image, a pool or a subnet of the agent’s configuration.',
  },
  Ec2NotVisible: {
    class: 'notYet',
    meaning: 'EC2 does not know the instance yet, as is usual just after a launch.',
    remedy: 'Nothing: asked again.',
  },
  Ec2Forbidden: {
    class: 'permanent',
    meaning: 'The worker’s AWS identity lacks a right, or cannot be verified.',
    remedy: 'Grant the action that the message names: docs/runbooks/ec2-forbidden.md.',
  },
  Ec2NotOurs: {
    class: 'permanent',
    meaning: 'An instance was to be terminated whose tags do not say that it is this agent’s.',
    remedy: 'Nothing was terminated. Follow docs/runbooks/ec2-not-ours.md.',
  },
} as const satisfies Record<string, FailureKind>;

export type FailureCode = keyof typeof FAILURES;

/** A failure as the rest of the code sees it, whatever carried it. */
export interface Failure {
  readonly code: FailureCode;
  readonly class: FailureClass;
  readonly message: string;
}

/** Whether a text is one of the registry's codes. */
export const isFailureCode = (code: string): code is FailureCode => Object.hasOwn(FAILURES, code);

/** What the entity does after an operation failed. */
export type AfterFailure =
  | { readonly next: 'plan-again' }
  | { readonly next: 'back-off'; readonly delayMs: number }
  | { readonly next: 'await-change' };

const BACK_OFF_MS = { first: 2_000, last: 300_000 } as const;
/** A world that keeps moving is planned for at once a few times, then with a growing delay. */
const STALE_IN_A_ROW = 3;

/** Decides what follows a failure, from its class and how many came in a row. */
export function afterFailure(failure: Failure, inARow: number): AfterFailure {
  switch (failure.class) {
    case 'transient':
    case 'notYet':
      return { next: 'back-off', delayMs: backOffMs(inARow) };
    case 'stale':
      return inARow <= STALE_IN_A_ROW
        ? { next: 'plan-again' }
        : { next: 'back-off', delayMs: backOffMs(inARow - STALE_IN_A_ROW) };
    case 'validation':
    case 'permanent':
      return { next: 'await-change' };
  }
}

const backOffMs = (inARow: number): number =>
  Math.min(BACK_OFF_MS.first * 2 ** Math.min(inARow - 1, 20), BACK_OFF_MS.last);
