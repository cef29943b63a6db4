/** The same entity by a worker with a defect: the plain error parks it. */
export function lamp(): Promise<void> {
  throw new Error('a broken invariant');
}
