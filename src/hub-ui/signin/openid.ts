import * as oauth from 'oauth4webapi';
import { UI_PATH } from '../hub/api_path.ts';
import type { SignInSettings } from '../hub/settings.ts';
import { t } from '../languages/language.ts';

/**
 * OpenID Connect for a public client: authorization code flow with PKCE (RFC 7636) and refresh tokens. The page redirects
 * to the identity server, which redirects back with a code.
 */

export interface Tokens {
  readonly access: string;
  readonly refresh: string | undefined;
  readonly id: string | undefined;
  readonly expiresAtMs: number;
}

/** Metadata of the identity server. */
export type Provider = oauth.AuthorizationServer;

/** State of a sign-in attempt, stored across the redirect. */
export interface Attempt {
  readonly state: string;
  readonly verifier: string;
  /** URL to return to. */
  readonly back: string;
  /** Attempt without user interaction (`prompt=none`): a rejection is not an error. */
  readonly isSilent: boolean;
}

/** The identity server has rejected the request; the user has to sign in again. */
export class SignInRejected extends Error {
  override name = 'Refused';
}

/** Assumed lifetime of an access token without `expires_in`. */
const DEFAULT_SECONDS = 300;

/** Tolerated clock skew. The browser's clock may be wrong, and the hub checks the validity of tokens itself. */
const CLOCK_SECONDS = 86_400;

/** Permits plain HTTP, as on a developer's machine; the configured URL decides. */
const OPTIONS = { [oauth.allowInsecureRequests]: true };

/** Loads the metadata of the identity server. Rejects with a translated message. */
export async function discover({ config_url: url }: SignInSettings): Promise<Provider> {
  try {
    const response = await fetch(url);
    if (response.ok) return (await response.json()) as Provider;
  } catch {
    // Reported below.
  }
  throw new Error(t('The identity server cannot be reached'));
}

/** Creates an attempt and its authorization URL. */
export async function attempt(
  { authorization_endpoint: endpoint = '' }: Provider,
  { client_id }: SignInSettings,
  { back, isSilent }: Pick<Attempt, 'back' | 'isSilent'>,
): Promise<{ readonly attempt: Attempt; readonly url: string }> {
  if (!isSecureContext)
    throw new Error(t('Sign-in requires HTTPS: this page was loaded over an unencrypted connection'));
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()];
  const url = new URL(endpoint);
  const query = {
    client_id,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: redirectUri(),
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(isSilent && { prompt: 'none' }),
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return { attempt: { state, verifier, back, isSilent }, url: url.href };
}

/** Exchanges the code in the query for tokens. */
export async function redeem(
  provider: Provider,
  settings: SignInSettings,
  query: URLSearchParams,
  { state, verifier }: Attempt,
): Promise<Tokens> {
  const client = clientOf(settings);
  const answer = oauth.validateAuthResponse(provider, client, query, state);
  const auth = oauth.None();
  const to = redirectUri();
  const response = await oauth.authorizationCodeGrantRequest(provider, client, auth, answer, to, verifier, OPTIONS);
  return tokensOf(response, (body) => oauth.processAuthorizationCodeResponse(provider, client, body));
}

/** Exchanges a refresh token for new tokens, possibly with a new refresh token. */
export async function refresh(provider: Provider, settings: SignInSettings, before: Tokens): Promise<Tokens> {
  if (before.refresh === undefined) throw new SignInRejected(t('There is no refresh token'));
  const client = clientOf(settings);
  const response = await oauth.refreshTokenGrantRequest(provider, client, oauth.None(), before.refresh, OPTIONS);
  const next = await tokensOf(response, (body) => oauth.processRefreshTokenResponse(provider, client, body));
  return { ...next, refresh: next.refresh ?? before.refresh, id: next.id ?? before.id };
}

/** Returns the sign-out URL of the identity server; undefined if it has none. */
export function signOutUrl(
  provider: Provider,
  { client_id }: SignInSettings,
  idToken: string | undefined,
): string | undefined {
  if (provider.end_session_endpoint === undefined) return undefined;
  const url = new URL(provider.end_session_endpoint);
  url.searchParams.set('client_id', client_id);
  url.searchParams.set('post_logout_redirect_uri', redirectUri());
  if (idToken !== undefined) url.searchParams.set('id_token_hint', idToken);
  return url.href;
}

/** Returns the display name from the ID token or the access token. */
export function nameIn({ id, access }: Tokens): string {
  const claims = { ...claimsOf(access), ...claimsOf(id) };
  const found = ['name', 'preferred_username', 'email', 'sub'].map((claim) => claims[claim]);
  return found.find((value): value is string => typeof value === 'string' && value !== '') ?? t('Signed in');
}

/** Returns the subject, which identifies the user regardless of the name. */
export function subjectIn({ id, access }: Tokens): string {
  const { iss = '', sub = '' } = { ...claimsOf(access), ...claimsOf(id) };
  return `${String(iss)} ${String(sub)}`;
}

function clientOf({ client_id }: SignInSettings): oauth.Client {
  return { client_id, [oauth.clockTolerance]: CLOCK_SECONDS };
}

async function tokensOf(
  response: Response,
  read: (response: Response) => Promise<oauth.TokenEndpointResponse>,
): Promise<Tokens> {
  try {
    const { access_token: access, refresh_token, id_token: id, expires_in: seconds } = await read(response);
    return { access, refresh: refresh_token, id, expiresAtMs: Date.now() + (seconds ?? DEFAULT_SECONDS) * 1000 };
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError) throw new SignInRejected(error.error_description ?? error.error);
    if (response.status >= 400 && response.status < 500) throw new SignInRejected(String(response.status));
    throw error;
  }
}

function redirectUri(): string {
  return new URL(`${UI_PATH}/`, location.origin).href;
}

function claimsOf(token: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const text = atob((token?.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  } catch {
    // Access tokens may be opaque.
    return {};
  }
}
