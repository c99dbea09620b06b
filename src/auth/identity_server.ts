import { createLocalJWKSet, type JWK, type JWTVerifyGetKey } from 'jose';
import { HubError } from '../errors.ts';
import { type Fetch, fetchJson } from './fetch_json.ts';

/**
 * What the hub knows of the identity server: who issues tokens, and the public keys that verify them.
 *
 *   cold ──fetched──▶ known ──10 min──▶ fetched in the background; the known keys serve meanwhile, and go on to serve
 *    │                  │               while the server is away
 *    │                  └─ a token with an unknown key: fetched before it is refused, at most every 10 s
 *    └─ away: HUB_UNAVAILABLE, and asked again with a token that comes a second later
 */
export interface IdentityServerOptions {
  /** Address of the OpenID configuration. */
  readonly configUrl: string;
  readonly fetch: Fetch;
  /** Time that has passed since some moment. */
  now(): number;
  /** Told when the server stops or starts to answer. */
  state?(is: 'ok' | 'failing', error?: unknown): void;
}

export interface KnownKeys {
  readonly issuer: string;
  readonly key: JWTVerifyGetKey;
  /** Text of the keys: tokens that were verified by other keys are to be verified again. */
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

  /** The keys as they are known; undefined while cold. Has old ones fetched again in the background. hot */
  known(): KnownKeys | undefined {
    const nowMs = this.#options.now();
    if (nowMs - this.#fetchedMs > FRESH_MS && nowMs - this.#askedMs > RETRY_KNOWN_MS) void this.#ask();
    return this.#known;
  }

  /** The keys, fetched now while cold. Rejects with HUB_UNAVAILABLE when they cannot be had. */
  async keys(): Promise<KnownKeys> {
    if (this.#known === undefined && this.#mayAsk(RETRY_COLD_MS)) await this.#ask();
    const known = this.known();
    if (known !== undefined) return known;
    throw new HubError(
      'HUB_UNAVAILABLE',
      'Cannot verify the access token: the identity server has not answered the hub yet',
    );
  }

  /** The keys after the server has been asked whether there are others; undefined when it was asked a moment ago. */
  async newerKeys(): Promise<KnownKeys | undefined> {
    if (!this.#mayAsk(ROTATION_MS)) return undefined;
    await this.#ask();
    return this.#known;
  }

  /** Fetches the keys now, so that the first token need not wait. Never rejects. */
  warm(): Promise<void> {
    return this.#ask();
  }

  /** Gives up what is being fetched. */
  close(): void {
    this.#closing.abort();
  }

  #mayAsk(pauseMs: number): boolean {
    return this.#asking !== undefined || this.#options.now() - this.#askedMs >= pauseMs;
  }

  /** Asks once, however many want to know. Never rejects: what is known stays, and the failure is told. */
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
    // Of the keys only those are used that fit a pinned algorithm.
    const key = createLocalJWKSet({ keys: keys.filter(isKey) });
    return { issuer, key, version: JSON.stringify([issuer, keys]) };
  }
}

/** Whether it is an object: a set may have entries that mean nothing to the hub, whatever these are. */
function isKey(entry: unknown): entry is JWK {
  return typeof entry === 'object' && entry !== null && !Array.isArray(entry);
}
