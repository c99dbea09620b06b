import { hubError, HubError } from '../errors.ts';
import { LRUCache } from 'lru-cache';
import type { ClaimNames } from './claims.ts';
import type { IdentityServer, KnownKeys } from './identity_server.ts';
import { TokenRefused, type VerifiedToken, verifyToken } from './verify_token.ts';

export interface TokensOptions {
  readonly identityServer: Pick<IdentityServer, 'known' | 'keys' | 'newerKeys'>;
  now(): number;
  readonly skipIssuer: boolean;
  readonly toleranceSeconds: number;
  readonly claims: ClaimNames;
  /** Whether the permissions contain a role. Other roles of a token are dropped. */
  isRole(name: string): boolean;
  /** Maximum number of cached tokens; the least recently used one is evicted first. */
  readonly rememberedMax?: number;
}

interface Remembered {
  readonly text: string;
  readonly token: VerifiedToken;
  /** Version of the keys that verified the token. */
  readonly version: string;
}

/**
 * Length of the token suffix that is the cache key. The end of a signature is practically random, and on a hit the full
 * token is compared. This avoids hashing the token with each request.
 */
const KEY_CHARACTERS = 40;

/** Verifies access tokens and caches the valid ones until they expire or the keys change. */
export class TokenVerifier {
  readonly #options: TokensOptions;
  readonly #remembered: LRUCache<string, Remembered>;
  /**
   * Verifications in progress, shared by concurrent requests with the same token. Kept separately, so that they do not
   * evict cached tokens.
   */
  readonly #verifying = new Map<string, Promise<VerifiedToken>>();
  #verifications = 0;

  constructor(options: TokensOptions) {
    this.#options = options;
    this.#remembered = new LRUCache({ max: options.rememberedMax ?? 10_000 });
  }

  /** Number of signatures verified since start. */
  get verifications(): number {
    return this.#verifications;
  }

  /**
   * Verifies a token, synchronously if it is cached. Throws, or rejects with, HUB_NOT_AUTHENTICATED, or HUB_UNAVAILABLE
   * if the identity server has never replied. hot
   */
  verified(token: string): VerifiedToken | Promise<VerifiedToken> {
    const known = this.#options.identityServer.known();
    const remembered = this.#remembered.get(token.slice(-KEY_CHARACTERS));
    if (remembered === undefined || remembered.text !== token || remembered.version !== known?.version) {
      return this.#verify(token);
    }
    if (this.#options.now() >= remembered.token.expiresMs) throw hubError('token_expired');
    return remembered.token;
  }

  #verify(token: string): Promise<VerifiedToken> {
    const running = this.#verifying.get(token);
    if (running !== undefined) return running;
    const verifying = this.#verifyNow(token).then(
      (remembered) => {
        this.#verifying.delete(token);
        this.#remembered.set(token.slice(-KEY_CHARACTERS), remembered);
        return remembered.token;
      },
      (error: unknown) => {
        this.#verifying.delete(token);
        throw error instanceof TokenRefused ? new HubError(error.problem, { cause: error }) : error;
      },
    );
    this.#verifying.set(token, verifying);
    return verifying;
  }

  async #verifyNow(token: string): Promise<Remembered> {
    const { identityServer } = this.#options;
    const keys = await identityServer.keys();
    try {
      return await this.#verifyBy(keys, token);
    } catch (error) {
      const newer = error instanceof TokenRefused && error.keyIsUnknown ? await identityServer.newerKeys() : undefined;
      if (newer === undefined || newer.version === keys.version) throw error;
      return await this.#verifyBy(newer, token);
    }
  }

  async #verifyBy({ key, issuer, version }: KnownKeys, token: string): Promise<Remembered> {
    const { skipIssuer, now, toleranceSeconds, claims, isRole } = this.#options;
    this.#verifications++;
    const verifying = { key, issuer: skipIssuer ? undefined : issuer, nowMs: now(), toleranceSeconds, claims };
    const verified = await verifyToken(token, verifying);
    return { text: token, token: { ...verified, roles: verified.roles.filter(isRole) }, version };
  }
}
