import { z } from 'zod';
import type { ValkeyNode } from '../../../workflows/valkey-cluster/domain/observation.ts';
import { SLOT_COUNT } from '../../../workflows/valkey-cluster/domain/slots.ts';
import { badInput } from '../cli-error.ts';

/** A whole number within limits, refused in these words. */
export const whole = (minimum: number, maximum: number, why: string): z.ZodInt =>
  z.int().min(minimum, why).max(maximum, why);

const slot = whole(0, SLOT_COUNT - 1, `a slot is from 0 to ${SLOT_COUNT - 1}`);
const range = z.tuple([slot, slot]).refine(([first, last]) => first <= last, 'a range is [first, last]');

const openSlot = z.object({ slot, direction: z.enum(['importing', 'migrating']), peer: z.string() });

const node = z.object({
  id: z.string().min(1),
  pod: z.string().default(''),
  shard: z.int().min(0, 'shards are numbered from 0'),
  role: z.enum(['master', 'replica']),
  masterId: z.string().nullish(),
  slots: z.array(range).default([]),
  zone: z.string().default(''),
  ready: z.boolean().default(true),
  usedMemory: z.number().min(0).optional(),
  maxMemory: z.number().min(0).optional(),
  keys: z.number().min(0).optional(),
  version: z.string().optional(),
  node: z.string().optional(),
  offset: z.number().optional(),
  linkUp: z.boolean().optional(),
  openSlots: z.array(openSlot).optional(),
});

const observed = z.object({
  nodes: z.array(node).refine((nodes) => new Set(nodes.map((one) => one.id)).size === nodes.length, {
    error: 'two nodes have the same id',
  }),
});

/** The nodes of a cluster as a file tells them. */
export const readNodes = (seen: unknown): readonly ValkeyNode[] =>
  parse(observed, seen, 'what was observed').nodes.map(withoutAbsent);

/** Reads what a file holds, or refuses it and names the field. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join('.') ?? '';
  throw badInput(
    `${what} cannot be used: ${path === '' ? '' : `${path}: `}${issue?.message ?? 'it is malformed'}`,
  );
}

/** Optional facts are absent, not undefined. */
const withoutAbsent = (one: z.infer<typeof node>): ValkeyNode =>
  Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)) as unknown as ValkeyNode;
