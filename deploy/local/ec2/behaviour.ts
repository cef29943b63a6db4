import { z } from 'zod';

const pool = z.object({ instanceType: z.string(), az: z.string() });

/** What tests and people set at the emulator, all of it optional: what is absent stays as it is. */
export const behaviourSchema = z.strictObject({
  /** Pools in which a launch is refused, with EC2's code for it; `*` stands for every type or zone. */
  capacity: z.array(pool.extend({ code: z.string().default('InsufficientInstanceCapacity') })).optional(),
  /** For how long a new instance is not known to those who ask for it. */
  unseenMs: z.number().int().min(0).optional(),
  /** Prices that are fixed; every other one moves by itself. */
  prices: z.array(pool.extend({ price: z.number().positive() })).optional(),
  /** The next requests of an action that fail as if EC2 had trouble. */
  outages: z.array(z.object({ action: z.string(), times: z.number().int().min(1) })).optional(),
});

export type BehaviourChange = z.infer<typeof behaviourSchema>;

/** What the emulator does beside what moto does. */
export class Behaviour {
  #capacity: NonNullable<BehaviourChange['capacity']> = [];
  #prices: NonNullable<BehaviourChange['prices']> = [];
  #outages = new Map<string, number>();
  unseenMs = 0;

  change(change: BehaviourChange): void {
    this.#capacity = change.capacity ?? this.#capacity;
    this.#prices = change.prices ?? this.#prices;
    this.unseenMs = change.unseenMs ?? this.unseenMs;
    if (change.outages !== undefined)
      this.#outages = new Map(change.outages.map(({ action, times }) => [action, times]));
  }

  /** The code with which a launch in a pool is refused, or null. */
  refusal(instanceType: string, az: string): string | null {
    const found = this.#capacity.find(
      (one) =>
        (one.instanceType === '*' || one.instanceType === instanceType) && (one.az === '*' || one.az === az),
    );
    return found?.code ?? null;
  }

  /** Whether this request is to fail. */
  takeOutage(action: string): boolean {
    const left = this.#outages.get(action) ?? 0;
    if (left > 0) this.#outages.set(action, left - 1);
    return left > 0;
  }

  /** The price of a pool now: a fixed one, or one that wanders slowly around what its name gives it. */
  price(instanceType: string, az: string, nowMs: number): number {
    const fixed = this.#prices.find((one) => one.instanceType === instanceType && one.az === az);
    if (fixed !== undefined) return fixed.price;
    const name = `${instanceType}/${az}`;
    let seed = 7;
    for (let at = 0; at < name.length; at += 1) seed = (seed * 31 + name.charCodeAt(at)) % 1_000;
    const base = 0.02 + seed / 10_000;
    const wave = Math.sin(nowMs / 600_000 + seed) / 5;
    return Math.round(base * (1 + wave) * 10_000) / 10_000;
  }
}
