import { randomBytes } from 'node:crypto';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import { hashToken, newToken } from './tokens.ts';

/** Adds a client, and gives its token, which can be read here and never again. */
export async function addClient(
  pool: Pool,
  name: string,
): Promise<{ readonly id: string; readonly name: string; readonly token: string }> {
  const id = `cl-${randomBytes(8).toString('hex')}`;
  const token = newToken();
  await pool.query('INSERT INTO clients (id, name, token_hash) VALUES (?, ?, ?)', [
    id,
    name,
    hashToken(token),
  ]);
  return { id, name, token };
}

/** Every client, without anything that a token could be found by. */
export async function listClients(
  pool: Pool,
): Promise<readonly { readonly id: string; readonly name: string; readonly createdAt: string }[]> {
  const [rows] = await pool.query<RowDataPacket[]>(
    'SELECT id, name, created_at AS createdAt FROM clients ORDER BY id',
  );
  return rows.map((row) => ({
    id: String(row['id']),
    name: String(row['name']),
    createdAt: row['createdAt'] instanceof Date ? row['createdAt'].toISOString() : '',
  }));
}
