import { createHash } from 'node:crypto';
import { Refusal } from './refusal.ts';
import { isDuplicate, type Store } from './store.ts';

/** An answer as it was given, or is about to be. */
export interface Answered {
  readonly status: number;
  readonly body: object;
}

/** Longer than any request is worked on: whoever began it is dead. */
const ABANDONED_SECONDS = 120;
/** How many keys that are older than a day are forgotten with each new one: twice as many as come. */
const FORGOTTEN_EACH = 2;

/**
 * Answers a request under its key once: a repetition is answered the same, another request under the same key is
 * refused. A request that failed for a reason of ours leaves its key free, and one whose server died is begun again. A
 * key is remembered for a day.
 */
export async function once(
  store: Store,
  key: { readonly clientId: string; readonly value: string; readonly request: string },
  work: () => Promise<Answered>,
): Promise<Answered> {
  const hash = createHash('sha256').update(key.request).digest('hex');
  const where = 'WHERE client_id = ? AND idempotency_key = ?';
  await store.write(
    `DELETE FROM idempotency_keys WHERE created_at < NOW(3) - INTERVAL 1 DAY ORDER BY created_at LIMIT ${FORGOTTEN_EACH}`,
  );
  try {
    await store.write(
      'INSERT INTO idempotency_keys (client_id, idempotency_key, request_hash) VALUES (?, ?, ?)',
      key.clientId,
      key.value,
      hash,
    );
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const taken = await store.write(
      `UPDATE idempotency_keys SET created_at = NOW(3) ${where} AND request_hash = ? AND status IS NULL
         AND created_at < NOW(3) - INTERVAL ${ABANDONED_SECONDS} SECOND`,
      key.clientId,
      key.value,
      hash,
    );
    if (taken === 0) return repeat(store, key, hash);
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
