import type { SignInSettings } from '../hub/settings.ts';

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
export interface Provider {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly end_session_endpoint?: string;
}

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
export class Refused extends Error {
  override name = 'Refused';
}

/** Where an access token is assumed to end that does not say it. */
const DEFAULT_SECONDS = 300;

/** Asks the identity server where its endpoints are. Rejects with a sentence for people. */
export async function discover({ config_url: url }: SignInSettings): Promise<Provider> {
  try {
    const response = await fetch(url);
    if (response.ok) return (await response.json()) as Provider;
  } catch {
    // Said below.
  }
  throw new Error('The identity server cannot be reached');
}

/** A new attempt, and the address to leave for. */
export async function attempt(
  provider: Provider,
  { client_id }: SignInSettings,
  { back, isSilent }: Pick<Attempt, 'back' | 'isSilent'>,
): Promise<{ readonly attempt: Attempt; readonly url: string }> {
  const [state, verifier] = [randomText(), randomText()];
  const url = new URL(provider.authorization_endpoint);
  const query = {
    client_id,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: redirectUri(),
    state,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
    ...(isSilent && { prompt: 'none' }),
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return { attempt: { state, verifier, back, isSilent }, url: url.href };
}

/** Tokens for the code that the page came back with. */
export function redeem(
  provider: Provider,
  { client_id }: SignInSettings,
  code: string,
  verifier: string,
): Promise<Tokens> {
  return ask(provider, {
    grant_type: 'authorization_code',
    client_id,
    code,
    redirect_uri: redirectUri(),
    code_verifier: verifier,
  });
}

/** New tokens for a refresh token, which may be replaced, too. */
export async function refresh(provider: Provider, { client_id }: SignInSettings, before: Tokens): Promise<Tokens> {
  if (before.refresh === undefined) throw new Refused('There is no refresh token');
  const query = { grant_type: 'refresh_token', client_id, refresh_token: before.refresh };
  const next = await ask(provider, query);
  return { ...next, refresh: next.refresh ?? before.refresh, id: next.id ?? before.id };
}

/** Where the identity server ends its own session; undefined where it cannot. */
export function endAddress(
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
  return found.find((value): value is string => typeof value === 'string' && value !== '') ?? 'Signed in';
}

async function ask({ token_endpoint: url }: Provider, query: Readonly<Record<string, string>>): Promise<Tokens> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(query) });
  const body = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>>;
  if (response.status >= 400 && response.status < 500) {
    throw new Refused(String(body['error_description'] ?? body['error'] ?? response.status));
  }
  if (typeof body['access_token'] !== 'string') throw new Error(`The identity server answered ${response.status}`);
  const seconds = Number(body['expires_in'] ?? DEFAULT_SECONDS);
  return {
    access: body['access_token'],
    refresh: textOf(body['refresh_token']),
    id: textOf(body['id_token']),
    expiresAtMs: Date.now() + seconds * 1000,
  };
}

function redirectUri(): string {
  return new URL(import.meta.env.BASE_URL, location.origin).href;
}

async function challengeOf(verifier: string): Promise<string> {
  if (!isSecureContext) throw new Error('Signing in needs HTTPS: this page came over a line that anybody can read');
  return base64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

function randomText(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
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

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
