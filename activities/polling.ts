import { reportProgress, rest } from './attempt.ts';

/** What one look found: the end of the wait, or what still holds it in words that a person reads. */
export type Look<T> = { readonly done: T } | { readonly waiting: string };

/** Looks until the wait is over or the attempt is; the words of each look are its heartbeat. */
export async function pollUntil<T>(everyMs: number, look: () => Promise<Look<T>>): Promise<T> {
  for (;;) {
    const seen = await look();
    if ('done' in seen) return seen.done;
    reportProgress(seen.waiting);
    await rest(everyMs);
  }
}
