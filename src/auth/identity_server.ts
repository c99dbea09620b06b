import { hubError } from '../errors.ts';
import { createLocalJWKSet, type JWK, type JWTVerifyGetKey } from 'jose';
import { type Fetch, fetchJson } from './fetch_json.ts';
import { isObject } from '../model/json_tree.ts';

/**
 * Options of the identity server's client, which caches the issuer of tokens and the public keys that verify them.
 *
 * - cold: no keys yet. A request fetches them. If the server is unreachable: HUB_UNAVAILABLE, and the next attempt with
 *   a token that arrives at least a second later.
 * - cached: keys are refreshed in the background after 10 minutes; the cached keys remain in use meanwhile, and while
 *   the server is unreachable.
 * - A token with an unknown key triggers a fetch before it is rejected, at most every 10 s.
 */
export interface IdentityServerOptions {
  /** Address of the OpenID configuration. */
  readonly configUrl: string;
  readonly fetch: Fetch;
  /** Returns monotonic time. */
  now(): number;
  /** Called when the server becomes unreachable or reachable. */
  state?(is: 'ok' | 'failing', error?: unknown): void;
}

export interface KnownKeys {
  readonly issuer: string;
  readonly key: JWTVerifyGetKey;
  /** Content of the keys. Tokens verified with another version must be verified again. */
  readonly version: string;
}

const FRESH_MS = 600_000;
const RETRY_KNOWN_MS = 30_000;
const RETRY_COLD_MS = 1_000;
const ROTATION_MS = 10_000;

export class IdentityServer {
  readonly #options: IdentityServerOptions;
  readonly #closing = new AbortController();
  #known: KnownKeys | undefined;
  #asking: Promise<void> | undefined;
  #askedMs = Number.NEGATIVE_INFINITY;
  #fetchedMs = Number.NEGATIVE_INFINITY;
  #failing = false;

  constructor(options: IdentityServerOptions) {
    this.#options = options;
  }

  /** Returns the cached keys; undefined while cold. Refreshes old keys in the background. hot */
  known(): KnownKeys | undefined {
    const nowMs = this.#options.now();
    if (nowMs - this.#fetchedMs > FRESH_MS && nowMs - this.#askedMs > RETRY_KNOWN_MS) void this.#ask();
    return this.#known;
  }

  /** Returns the keys, after fetching them if cold. Rejects with HUB_UNAVAILABLE if they cannot be fetched. */
  async keys(): Promise<KnownKeys> {
    if (this.#known === undefined && this.#mayAsk(RETRY_COLD_MS)) await this.#ask();
    const known = this.known();
    if (known !== undefined) return known;
    throw hubError('identity_server_silent');
  }

  /** Fetches the keys again and returns them; undefined if they were fetched recently. */
  async newerKeys(): Promise<KnownKeys | undefined> {
    if (!this.#mayAsk(ROTATION_MS)) return undefined;
    await this.#ask();
    return this.#known;
  }

  /** Fetches the keys early, so that the first token need not wait. Never rejects. */
  warm(): Promise<void> {
    return this.#ask();
  }

  /** Cancels the current fetch. */
  close(): void {
    this.#closing.abort();
  }

  #mayAsk(pauseMs: number): boolean {
    return this.#asking !== undefined || this.#options.now() - this.#askedMs >= pauseMs;
  }

  /**
   * Fetches the keys, once for all concurrent callers. Never rejects: after a failure, which is reported, cached keys
   * remain in use.
   */
  #ask(): Promise<void> {
    if (this.#asking !== undefined) return this.#asking;
    this.#askedMs = this.#options.now();
    this.#asking = this.#fetch().then(
      (known) => {
        this.#asking = undefined;
        this.#known = known;
        this.#fetchedMs = this.#options.now();
        if (this.#failing) this.#options.state?.('ok');
        this.#failing = false;
      },
      (error: unknown) => {
        this.#asking = undefined;
        if (this.#closing.signal.aborted) return;
        if (!this.#failing) this.#options.state?.('failing', error);
        this.#failing = true;
      },
    );
    return this.#asking;
  }

  async #fetch(): Promise<KnownKeys> {
    const { configUrl, fetch } = this.#options;
    const asking = { fetch, signal: this.#closing.signal };
    const { issuer, jwks_uri: keysUrl } = await fetchJson(configUrl, asking);
    if (typeof issuer !== 'string') throw new Error(`Cannot use ${configUrl}: it names no issuer`);
    if (typeof keysUrl !== 'string') throw new Error(`Cannot use ${configUrl}: it names no jwks_uri`);
    const { keys } = await fetchJson(keysUrl, asking);
    if (!Array.isArray(keys)) throw new Error(`Cannot use ${keysUrl}: it has no list of keys`);
    // jose uses only keys that match an accepted algorithm.
    const key = createLocalJWKSet({ keys: keys.filter(isKey) });
    return { issuer, key, version: JSON.stringify([issuer, keys]) };
  }
}

/** Whether an entry of a key set is an object. A key set may contain entries unknown to the hub. */
function isKey(entry: unknown): entry is JWK {
  return isObject(entry);
}
