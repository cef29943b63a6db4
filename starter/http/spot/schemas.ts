import { z } from 'zod';

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
const instanceId = z.string().regex(/^i-[0-9a-f]{8,32}$/);
const zone = z
  .string()
  .max(32)
  .regex(/^[a-z]{2}(-[a-z]+)+-\d[a-z]$/);
const epoch = z.int().min(0);
const instant = z.iso.datetime({ offset: true });

/** The agent in the path. */
export const agentParams = z.object({ id: name });

const pool = z.strictObject({
  instance_type: z
    .string()
    .max(64)
    .regex(/^[a-z0-9-]+\.[a-z0-9-]+$/),
  az: zone,
  subnet_id: z
    .string()
    .max(64)
    .regex(/^subnet-[0-9a-f]+$/)
    .nullable()
    .default(null),
});

const launch = z.strictObject({
  image_id: z.string().regex(/^ami-[0-9a-f]{8,32}$/),
  pools: z.array(pool).min(1).max(50),
  on_demand: z.boolean().default(true),
  max_moves_per_hour: z.int().min(0).max(60).default(4),
});

export const registerBody = z.strictObject({
  // The database takes a name with spaces behind it for the same name.
  logical_agent_id: z
    .string()
    .max(190)
    .regex(/^[!-~](?:[ -~]*[!-~])?$/),
  instance_id: instanceId,
  instance_type: z.string().min(1).max(64),
  region: z
    .string()
    .max(32)
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/),
  az: zone,
  is_primary: z.boolean(),
  epoch: epoch.nullable().default(null),
});

export const heartbeatBody = z.strictObject({
  instance_id: instanceId,
  epoch: epoch.nullable().default(null),
  status: z.enum(['running', 'stopping']).default('running'),
  /** What a replica says of itself. */
  replica: z
    .strictObject({
      state: z.enum(['syncing', 'ready']),
      seconds_since_sync: z.number().min(0).max(86_400).nullable().default(null),
      error: z.string().max(1_000).nullable().default(null),
    })
    .nullable()
    .default(null),
});

export const rebalanceBody = z.strictObject({ instance_id: instanceId, notice_time: instant.optional() });

export const terminationBody = z.strictObject({
  instance_id: instanceId,
  action: z.enum(['terminate', 'stop', 'hibernate']).default('terminate'),
  /** When the instance goes, as its metadata says. */
  time: instant.optional(),
});

export const configBody = z.strictObject({
  auto_terminate: z.boolean().optional(),
  terminate_wait_seconds: z.int().min(0).max(1_000_000).optional(),
  auto_switch: z.boolean().optional(),
  manual_replica: z.boolean().optional(),
  launch: launch.nullable().optional(),
});

export const switchBody = z.strictObject({ target_instance_id: instanceId });

export const reportBody = z.strictObject({
  instance_id: instanceId,
  epoch: epoch.nullable().default(null),
  success: z.boolean(),
  message: z.string().max(2_000).default(''),
});

export const pendingQuery = z.strictObject({ instance_id: instanceId });

const config = z.object({
  enabled: z.boolean(),
  auto_terminate: z.boolean().optional(),
  terminate_wait_seconds: z.number().optional(),
  auto_switch: z.boolean().optional(),
  manual_replica: z.boolean().optional(),
  launch: launch.nullable().optional(),
});

export const registerAnswer = z.object({
  agent_id: z.string().optional(),
  role: z.enum(['primary', 'replica']).optional(),
  epoch: z.number().optional(),
  reason: z.string().optional(),
  config,
});
export const heartbeatAnswer = z.object({
  primary: z.boolean(),
  epoch: z.number(),
  message: z.string(),
});
export const configAnswer = z.object({ epoch: z.number(), generation: z.number(), config });
export const noticeAnswer = z.object({
  message: z.string(),
  data: z.object({
    effect: z.string(),
    action: z.string(),
    emergency_replica_id: z.string().nullable(),
    primary_instance_id: z.string().nullable(),
    epoch: z.number().nullable(),
    deadline: z.string().nullable(),
  }),
});
export const commandsAnswer = z.object({
  commands: z.array(
    z.object({
      type: z.enum(['serve', 'stand-by', 'stop-serving']),
      priority: z.number(),
      epoch: z.number(),
      reason: z.string(),
    }),
  ),
});
export const emergencyAnswer = z.object({
  phase: z.string().nullable(),
  notice: z.object({
    status: z.string(),
    instance_id: z.string().nullable(),
    received_at: z.string().nullable(),
    deadline: z.string().nullable(),
  }),
  primary_instance_id: z.string().nullable(),
  epoch: z.number(),
  replicas: z.array(z.object({ id: z.string(), instance_id: z.string().nullable(), status: z.string() })),
});
export const acceptedAnswer = z.object({ message: z.string() });
export const decideAnswer = z.object({
  operation: z.string(),
  steps: z.array(z.object({ kind: z.string(), reason: z.string() })),
  blocked: z.array(z.string()),
});
export const errorAnswer = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export type LaunchWish = z.infer<typeof launch>;
export type Registering = z.infer<typeof registerBody>;
export type Heartbeat = z.infer<typeof heartbeatBody>;
