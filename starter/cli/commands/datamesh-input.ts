import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { MEMBER_STATES, MEMBER_TYPES } from '../../../workflows/datamesh/domain/member-states.ts';
import { planDatamesh as plan, type DatameshPlan } from '../../../workflows/datamesh/domain/plan.ts';
import type { Observed } from '../../../workflows/datamesh/domain/observed.ts';
import { RefusedInput } from '../../../workflows/datamesh/domain/refusal.ts';

/** What the command line gives. */
export interface DatameshFlags {
  readonly observed: string;
  readonly intent?: string;
  readonly output: 'text' | 'json';
}

const state = z.enum(MEMBER_STATES);
const type = z.enum([...MEMBER_TYPES] as ['A', ...('A' | 'TB' | 'D' | 'sD')[]]);
const name = z.string().min(1);

const observedSchema = z.object({
  resource: name.default('default/volume'),
  kernel: z.string(),
  q: z.int(),
  qmr: z.int(),
  configuration: z.object({
    ftt: z.number(),
    gmdr: z.number(),
    topology: z.string().default('Ignored'),
    volumeAccess: z.string().default('Any'),
    mode: z.string().default('managed'),
  }),
  members: z.array(
    z.object({
      name,
      type: state,
      node: name,
      zone: z.string().default(''),
      upToDate: z.boolean().default(false),
      attached: z.boolean().default(false),
      connectedTo: z.array(name).optional(),
    }),
  ),
  replicas: z
    .array(
      z.object({
        name,
        wants: type,
        node: name,
        zone: z.string().default(''),
        deleting: z.boolean().default(false),
      }),
    )
    .nullable()
    .default(null),
  active: z
    .array(
      z.object({
        transition: name,
        member: name.nullable().default(null),
        step: z.union([z.int(), z.string()]).default(0),
      }),
    )
    .default([]),
});

const intentSchema = z.discriminatedUnion('op', [
  z.object({ op: z.literal('AddMember'), member: name, type, node: name, zone: z.string().default('') }),
  z.object({ op: z.literal('RemoveMember'), member: name }),
  z.object({ op: z.literal('ChangeMemberType'), member: name, from: state, to: type }),
  z.object({ op: z.literal('ChangeQuorum'), q: z.int(), qmr: z.int() }),
  z.object({ op: z.literal('ForceRemove'), member: name }),
]);
const intentsSchema = z.union([
  intentSchema.transform((one) => [one]),
  z.array(intentSchema),
  z.object({ intents: z.array(intentSchema) }).transform((wrapped) => wrapped.intents),
]);

/** Reads the files and plans; contacts nothing. Throws RefusedInput for anything that is wrong with the input. */
export function planFromFiles(flags: DatameshFlags): DatameshPlan {
  const seen = parseFile(flags.observed, observedSchema);
  const intents = flags.intent === undefined ? null : parseFile(flags.intent, intentsSchema);
  const observed = {
    ...seen,
    active: seen.active.map((one) => ({ ...one, step: Number(one.step) || 0 })),
  };
  // Kernel, topology, access and mode are checked by the planner itself, which names the rule.
  return plan(observed as Observed, intents);
}

function parseFile<T>(file: string, schema: z.ZodType<T>): T {
  let data: unknown;
  try {
    data = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new RefusedInput(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw new RefusedInput(`${file}: ${z.prettifyError(parsed.error)}`);
}

/** Runs a command's body; bad input ends with exit code 2 and its sentence on stderr. */
export function answering(body: () => string): number {
  try {
    process.stdout.write(body());
    return 0;
  } catch (error) {
    if (!(error instanceof RefusedInput)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}
