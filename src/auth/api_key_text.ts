import { hash as digest, randomBytes } from 'node:crypto';

/**
 * API keys as strings: `olh_<id>_<secret>`. The prefix lets scanners of repositories and logs find leaked keys, and the id
 * shows which one to revoke. The secret has 256 random bits, so that a fast hash suffices.
 */

const PREFIX = 'olh_';
const ID_BYTES = 8;
const SECRET_BYTES = 32;
const KEY = /^olh_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

export function newKeyId(): string {
  return randomBytes(ID_BYTES).toString('hex');
}

export function newKeySecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

export function keyText(id: string, secret: string): string {
  return `${PREFIX}${id}_${secret}`;
}

/** Whether a token has the prefix of an API key. */
export function isApiKey(token: string): boolean {
  return token.startsWith(PREFIX);
}

/** Returns the parts of a key; undefined for any other string. */
export function keyParts(key: string): { readonly id: string; readonly secret: string } | undefined {
  const [, id, secret] = KEY.exec(key) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** Returns the SHA-256 of a secret. */
export function keyHash(secret: string): Buffer {
  return digest('sha256', secret, 'buffer');
}
