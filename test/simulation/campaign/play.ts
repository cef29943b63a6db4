import type { Faults } from '../engine/attempts.ts';
import type { Random } from '../engine/random.ts';

/** What happens to a simulated world, and how unreliable everything in it is. */
export interface Scene<Incident> {
  readonly seed: string;
  readonly faults: Faults;
  /** After how many tasks a run is told to continue as new. */
  readonly longHistory: number;
  readonly incidents: readonly Incident[];
}

/** What was wrong with a performance, and all that happened in it. */
export interface Verdict {
  readonly violations: readonly string[];
  readonly lines: readonly string[];
}

/** A lifecycle that can be played with whatever happens to it. */
export interface Play<Incident> {
  readonly name: string;
  compose(seed: string, random: Random): Scene<Incident>;
  perform(scene: Scene<Incident>): Promise<Verdict>;
  tell(incident: Incident): string;
}
