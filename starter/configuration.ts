import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Tuning } from '../workflows/shared/operation.ts';

const ms = z.number().int().min(1);
/** How every entity that this starter starts is tuned, as JSON: for tests, and for slow links. */
const tuning = z.strictObject({
  heartbeatTimeoutMs: ms.optional(),
  retryInitialMs: ms.optional(),
  retryMaximumMs: ms.optional(),
  driftMs: ms.optional(),
});
const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'it is not JSON' });
    return z.NEVER;
  }
});

const schema = z.object({
  KEELSON_TUNING: json.pipe(tuning).optional(),
  KEELSON_STARTER_PORT: z.coerce.number().int().min(0).max(65_535).default(9465),
  KEELSON_STARTER_HOST: z.string().min(1).default('0.0.0.0'),
  KEELSON_LEASE_NAMESPACE: z.string().min(1).optional(),
  KEELSON_LEASE_NAME: z.string().min(1).default('keelson-starter'),
  KEELSON_IDENTITY: z.string().min(1).optional(),
  KEELSON_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  POD_NAMESPACE: z.string().min(1).optional(),
  POD_NAME: z.string().min(1).optional(),
});

/** What the starter process is told by its environment. */
export interface StarterConfiguration {
  readonly port: number;
  readonly host: string;
  readonly lease: { readonly namespace: string; readonly name: string; readonly identity: string };
  readonly logLevel: string;
  readonly tuning: Tuning | undefined;
}

/** Reads the environment; throws a sentence that names the variable that is wrong. */
export function readConfiguration(
  environment: Readonly<Record<string, string | undefined>>,
): StarterConfiguration {
  const parsed = schema.safeParse(environment);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new Error(`${issue?.path.join('.') ?? 'the environment'} is wrong: ${issue?.message ?? 'unknown'}`);
  }
  const values = parsed.data;
  return {
    port: values.KEELSON_STARTER_PORT,
    host: values.KEELSON_STARTER_HOST,
    lease: {
      namespace: values.KEELSON_LEASE_NAMESPACE ?? values.POD_NAMESPACE ?? 'default',
      name: values.KEELSON_LEASE_NAME,
      // Two processes on one machine are two replicas: the name alone does not tell them apart.
      identity: values.KEELSON_IDENTITY ?? `${values.POD_NAME ?? hostname()}-${randomUUID().slice(0, 8)}`,
    },
    logLevel: values.KEELSON_LOG_LEVEL,
    // Absent settings are left out by the parser, never undefined.
    tuning: values.KEELSON_TUNING as Tuning | undefined,
  };
}
