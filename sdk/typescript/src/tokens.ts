/** A source of access tokens. */
export interface TokenSource {
  /** Returns a token that is valid for some more seconds; undefined if the hub requires none. */
  token(): Promise<string | undefined>;
  /** Reports that the hub refused a token, so that the next call returns another one. */
  refused(token: string): void;
}

/** A client of an OpenID Connect server, by the grant `client_credentials` (RFC 6749, section 4.4). */
export interface ClientCredentials {
  /** URL of the token endpoint. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string;
  readonly fetch?: typeof fetch;
  /** Current time in milliseconds; `Date.now` by default. */
  readonly now?: () => number;
}

/** A token is replaced this long before it expires, or after half of its life if that is shorter. */
const RENEW_BEFORE_MS = 30_000;
/** Life of a token whose server does not state it. */
const USUAL_LIFE_S = 60;

/** Always returns the same token. */
export function fixedToken(token: string | undefined): TokenSource {
  return { token: async () => token, refused: () => undefined };
}

/** Returns tokens by client credentials. Concurrent calls share one request to the token endpoint. */
export function clientCredentials(client: ClientCredentials): TokenSource {
  const now = client.now ?? Date.now;
  let current: { readonly token: string; readonly renewMs: number } | undefined;
  let pending: Promise<string> | undefined;

  async function request(): Promise<string> {
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: client.clientId });
    form.set('client_secret', client.clientSecret);
    if (client.scope !== undefined) form.set('scope', client.scope);
    const response = await (client.fetch ?? fetch)(client.tokenUrl, { method: 'POST', body: form });
    if (!response.ok) throw new Error(`Cannot get a token from ${client.tokenUrl}: status ${response.status}`);
    const { access_token: token, expires_in: life = USUAL_LIFE_S } = await response.json();
    if (typeof token !== 'string') throw new Error(`Cannot get a token from ${client.tokenUrl}: found no access_token`);
    const lifeMs = Number(life) * 1000;
    current = { token, renewMs: now() + Math.max(lifeMs - RENEW_BEFORE_MS, lifeMs / 2) };
    return token;
  }

  return {
    async token() {
      if (current !== undefined && now() < current.renewMs) return current.token;
      pending ??= request().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    refused(token) {
      if (current?.token === token) current = undefined;
    },
  };
}
