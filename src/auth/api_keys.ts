import { timingSafeEqual } from 'node:crypto';
import { hubError } from '../errors.ts';
import type { StoredApiKey } from '../model/api_key.ts';
import { keyHash, keyParts } from './api_key_text.ts';
import { OwnedEntities } from './ownership.ts';
import type { VerifiedToken } from './verify_token.ts';

export interface ApiKeysOptions {
  /** Wall-clock time. */
  now(): number;
  /** Whether the permissions contain a role. Other roles of a key are dropped. */
  isRole(name: string): boolean;
}

interface UsedKey {
  readonly stored: StoredApiKey;
  readonly token: VerifiedToken;
  readonly revocation: AbortController;
}

/** Verifies API keys, and ends the access of those that are revoked. */
export class ApiKeyVerifier {
  readonly #options: ApiKeysOptions;
  /** Keys that were used since they were stored. */
  readonly #used = new Map<string, UsedKey>();
  #find: (id: string) => StoredApiKey | undefined = () => undefined;

  constructor(options: ApiKeysOptions) {
    this.#options = options;
  }

  /** Sets the lookup of stored keys. Until then, every key is unknown. */
  attach(find: (id: string) => StoredApiKey | undefined): void {
    this.#find = find;
  }

  /** Throws HUB_NOT_AUTHENTICATED for an unknown, expired or revoked key. hot */
  verified(key: string): VerifiedToken {
    const parts = keyParts(key);
    const stored = parts && this.#find(parts.id);
    // Everything beyond the id is compared in constant time.
    if (stored === undefined || !timingSafeEqual(keyHash(parts?.secret ?? ''), Buffer.from(stored.hash, 'base64url'))) {
      throw hubError('key_unknown');
    }
    if (stored.revoked_at != null) throw hubError('key_revoked', { id: stored.id });
    const { token } = this.#used.get(stored.id) ?? this.#use(stored);
    if (this.#options.now() >= token.expiresMs) throw hubError('key_expired', { id: stored.id });
    return token;
  }

  /** Ends the access by keys that have changed since they were used. Call it after each change of the stored keys. */
  changed(): void {
    for (const [id, { stored, revocation }] of this.#used) {
      if (this.#find(id) === stored) continue;
      this.#used.delete(id);
      revocation.abort();
    }
  }

  #use(stored: StoredApiKey): UsedKey {
    const revocation = new AbortController();
    const token: VerifiedToken = {
      roles: stored.roles.filter(this.#options.isRole),
      owned: OwnedEntities.from(stored.owned_resources),
      subject: `key ${stored.id}`,
      expiresMs: stored.expires_at == null ? Number.POSITIVE_INFINITY : Date.parse(stored.expires_at),
      revoked: revocation.signal,
    };
    const used = { stored, token, revocation };
    this.#used.set(stored.id, used);
    return used;
  }
}
