import { createHash, randomBytes } from 'node:crypto';

const PREFIX = 'kst_';

/** A new token, which is shown once and never stored. */
export const newToken = (): string => PREFIX + randomBytes(32).toString('base64url');

/** What is stored of a token. It is random and long, so that a plain hash cannot be searched backwards. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/** What is stored of the token in an `Authorization: Bearer …` header, or null. */
export function bearerHashOf(header: string | undefined): string | null {
  const token = /^Bearer ([\w-]{20,200})$/.exec(header ?? '')?.[1];
  return token === undefined ? null : hashToken(token);
}
