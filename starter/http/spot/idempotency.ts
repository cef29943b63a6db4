import { createHash } from 'node:crypto';
import { Refusal } from './refusal.ts';
import type { Store } from './store.ts';

/** An answer as it was given, or is about to be. */
export interface Answered {
  readonly status: number;
  readonly body: object;
}

const DUPLICATE = 1062;

/**
 * Answers a request under its key once: a repetition is answered the same, another request under the same key is
 * refused. A request that failed for a reason of ours leaves its key free.
 */
export async function once(
  store: Store,
  key: { readonly clientId: string; readonly value: string; readonly request: string },
  work: () => Promise<Answered>,
): Promise<Answered> {
  const hash = createHash('sha256').update(key.request).digest('hex');
  const where = 'WHERE client_id = ? AND idempotency_key = ?';
  try {
    await store.write(
      'INSERT INTO idempotency_keys (client_id, idempotency_key, request_hash) VALUES (?, ?, ?)',
      key.clientId,
      key.value,
      hash,
    );
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error && error.errno === DUPLICATE)) throw error;
    return repeat(store, key, hash);
  }
  const free = (): Promise<number> =>
    store.write(`DELETE FROM idempotency_keys ${where}`, key.clientId, key.value);
  try {
    const answered = await work();
    if (answered.status >= 500) await free();
    else
      await store.write(
        `UPDATE idempotency_keys SET status = ?, answer = ? ${where}`,
        answered.status,
        JSON.stringify(answered.body),
        key.clientId,
        key.value,
      );
    return answered;
  } catch (error) {
    await free();
    throw error;
  }
}

async function repeat(
  store: Store,
  key: { readonly clientId: string; readonly value: string },
  hash: string,
): Promise<Answered> {
  const [row] = await store.read(
    'SELECT request_hash AS hash, status, answer FROM idempotency_keys WHERE client_id = ? AND idempotency_key = ?',
    key.clientId,
    key.value,
  );
  if (row !== undefined && row['hash'] !== hash)
    throw new Refusal(422, 'IDEMPOTENCY_KEY_REUSED', 'this Idempotency-Key was used for another request');
  if (row === undefined || row['status'] === null)
    throw new Refusal(409, 'IN_PROGRESS', 'a request with this Idempotency-Key is being answered');
  return { status: Number(row['status']), body: JSON.parse(String(row['answer'])) as object };
}
