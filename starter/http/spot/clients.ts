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

/** The clients that somebody means by an id or a name: names are not unique. */
export async function findClients(
  pool: Pool,
  idOrName: string,
): Promise<readonly { readonly id: string; readonly name: string; readonly agents: number }[]> {
  const [rows] = await pool.query<RowDataPacket[]>(
    `SELECT id, name, (SELECT COUNT(*) FROM agents WHERE client_id = clients.id) AS agents
       FROM clients WHERE id = ? OR name = ? ORDER BY id`,
    [idOrName, idOrName],
  );
  return rows.map((row) => ({
    id: String(row['id']),
    name: String(row['name']),
    agents: Number(row['agents']),
  }));
}

/** Gives a client another token, which can be read here and never again; the one before it is refused from now on. */
export async function rotateClient(pool: Pool, id: string): Promise<string> {
  const token = newToken();
  await pool.query('UPDATE clients SET token_hash = ? WHERE id = ?', [hashToken(token), id]);
  return token;
}

/** Removes a client: its token is refused from now on. Its agents stay, and so does what looks after them. */
export async function removeClient(pool: Pool, id: string): Promise<void> {
  await pool.query('DELETE FROM clients WHERE id = ?', [id]);
  await pool.query('DELETE FROM idempotency_keys WHERE client_id = ?', [id]);
}
