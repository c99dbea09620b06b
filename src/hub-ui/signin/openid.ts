import * as oauth from 'oauth4webapi';
import { UI_PATH } from '../hub/api_path.ts';
import type { SignInSettings } from '../hub/settings.ts';
import { t } from '../languages/language.ts';

/**
 * What OpenID Connect asks of a page that has no secret: authorization code with PKCE (RFC 7636), and new tokens by
 * refresh tokens. The page leaves for the identity server and comes back with a code.
 */

export interface Tokens {
  readonly access: string;
  readonly refresh: string | undefined;
  readonly id: string | undefined;
  readonly expiresAtMs: number;
}

/** What the identity server says of itself. */
export type Provider = oauth.AuthorizationServer;

/** What has to be known again when the page comes back. */
export interface Attempt {
  readonly state: string;
  readonly verifier: string;
  /** The address that the user wanted to see. */
  readonly back: string;
  /** Nobody was to be asked anything: a refusal is no failure. */
  readonly isSilent: boolean;
}

/** The identity server has refused: nothing but signing in anew helps. */
export class SignInRejected extends Error {
  override name = 'Refused';
}

/** Where an access token is assumed to end that does not say it. */
const DEFAULT_SECONDS = 300;

/** Whether a token is in force says the hub: the clock of a visitor may be wrong. */
const CLOCK_SECONDS = 86_400;

/** Which server is asked, and how, is the configuration's to say: on one's own machine there is no HTTPS. */
const OPTIONS = { [oauth.allowInsecureRequests]: true };

/** Asks the identity server where its endpoints are. Rejects with a sentence for people. */
export async function discover({ config_url: url }: SignInSettings): Promise<Provider> {
  try {
    const response = await fetch(url);
    if (response.ok) return (await response.json()) as Provider;
  } catch {
    // Said below.
  }
  throw new Error(t('The identity server cannot be reached'));
}

/** A new attempt, and the address to leave for. */
export async function attempt(
  { authorization_endpoint: endpoint = '' }: Provider,
  { client_id }: SignInSettings,
  { back, isSilent }: Pick<Attempt, 'back' | 'isSilent'>,
): Promise<{ readonly attempt: Attempt; readonly url: string }> {
  if (!isSecureContext) throw new Error(t('Signing in needs HTTPS: this page came over a line that anybody can read'));
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

/** Tokens for the code in the query that the page came back with. */
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

/** New tokens for a refresh token, which may be replaced, too. */
export async function refresh(provider: Provider, settings: SignInSettings, before: Tokens): Promise<Tokens> {
  if (before.refresh === undefined) throw new SignInRejected(t('There is no refresh token'));
  const client = clientOf(settings);
  const response = await oauth.refreshTokenGrantRequest(provider, client, oauth.None(), before.refresh, OPTIONS);
  const next = await tokensOf(response, (body) => oauth.processRefreshTokenResponse(provider, client, body));
  return { ...next, refresh: next.refresh ?? before.refresh, id: next.id ?? before.id };
}

/** Where the identity server ends its own session; undefined where it cannot. */
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

/** A name for people, of an ID token or an access token. */
export function nameIn({ id, access }: Tokens): string {
  const claims = { ...claimsOf(access), ...claimsOf(id) };
  const found = ['name', 'preferred_username', 'email', 'sub'].map((claim) => claims[claim]);
  return found.find((value): value is string => typeof value === 'string' && value !== '') ?? t('Signed in');
}

/** What stands for a person whatever they are called. */
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
    // Not every access token can be read.
    return {};
  }
}
