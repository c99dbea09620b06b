import { accessToken, permits, setRenew, type Session, session } from '../hub/access.ts';
import { PREFIX, UI_PATH } from '../hub/api_path.ts';
import { getText } from '../hub/rest.ts';
import { deleteDrafts } from '../hub/saved_drafts.ts';
import type { SignInSettings } from '../hub/settings.ts';
import { t } from '../languages/language.ts';
import {
  type Attempt,
  attempt,
  discover,
  signOutUrl,
  nameIn,
  SignInRejected,
  redeem,
  refresh,
  subjectIn,
  type Tokens,
} from './openid.ts';
import { type TokenPermissions, permissionCheckOf } from './permissions.ts';

/**
 * Session of this tab. Its tokens are in session storage, so that a reload needs no sign-in. A new tab signs in silently
 * if the user has signed in in this browser before.
 */

/** Storage keys, different for each hub on an origin. */
const TOKENS = `${PREFIX}hub-session`;
const ATTEMPT = `${PREFIX}hub-sign-in`;
const WAS_IN = `${PREFIX}hub-was-signed-in`;

/** Time before expiry at which a token is renewed, and the delay of another attempt. */
const AHEAD_MS = 60_000;
const RETRY_MS = 10_000;

let settings: SignInSettings;
let tokens: Tokens | undefined;
let renewing: Promise<boolean> | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Restores or starts the session and sets `session`. Does not resolve if the page is about to redirect. */
export async function startSession(given: SignInSettings): Promise<void> {
  settings = given;
  setRenew(renew);
  change('out');
  const left = takeAttempt();
  const query = new URLSearchParams(location.search);
  if (left !== undefined && query.get('state') === left.state) return await comeBack(left, query);
  const restored = stored<Tokens>(sessionStorage, TOKENS);
  if (restored !== undefined) {
    tokens = restored;
    if (restored.expiresAtMs > Date.now() + 5_000) return await enter(restored);
    if (await renew()) return await loadPermits();
    leave();
    return;
  }
  if (localStorage.getItem(WAS_IN) !== null) await begin({ isSilent: true });
}

async function comeBack(left: Attempt, query: URLSearchParams): Promise<void> {
  history.replaceState(null, '', left.back);
  if (query.get('code') === null) {
    localStorage.removeItem(WAS_IN);
    if (!left.isSilent)
      change('out', query.get('error_description') ?? query.get('error') ?? t('Signing in has failed'));
    return;
  }
  try {
    await enter(await redeem(await discover(settings), settings, query, left));
  } catch (error) {
    change('out', messageOf(error));
  }
}

async function enter(next: Tokens): Promise<void> {
  setTokens(next);
  localStorage.setItem(WAS_IN, '1');
  await loadPermits();
}

/** Loads the permissions from the hub. On failure all controls are shown, and the hub rejects forbidden requests. */
async function loadPermits(): Promise<void> {
  try {
    permits.value = permissionCheckOf(JSON.parse(await getText(`${UI_PATH}/permitted.json`)) as TokenPermissions);
  } catch {
    // The connection state shows the reason.
  }
}

function setTokens(next: Tokens): void {
  tokens = next;
  accessToken.value = next.access;
  sessionStorage.setItem(TOKENS, JSON.stringify(next));
  change('in');
  const leftMs = next.expiresAtMs - Date.now();
  renewIn(Math.max(leftMs / 2, leftMs - AHEAD_MS));
}

function renewIn(ms: number): void {
  clearTimeout(timer);
  // Timers are limited to 24 days.
  timer = setTimeout(() => void renew(), Math.min(ms, 2 ** 31 - 1));
}

/** Renews the tokens with the refresh token; concurrent calls share one request. */
function renew(): Promise<boolean> {
  renewing ??= renewNow().finally(() => {
    renewing = undefined;
  });
  return renewing;
}

async function renewNow(): Promise<boolean> {
  if (tokens === undefined) return false;
  try {
    setTokens(await refresh(await discover(settings), settings, tokens));
    return true;
  } catch (error) {
    if (error instanceof SignInRejected) change('ended', error.message);
    else renewIn(RETRY_MS);
    return false;
  }
}

/** Redirects to the identity server. */
async function begin({ isSilent }: { readonly isSilent: boolean }): Promise<void> {
  try {
    const back = location.pathname + location.search;
    const begun = await attempt(await discover(settings), settings, { back, isSilent });
    sessionStorage.setItem(ATTEMPT, JSON.stringify(begun.attempt));
    location.assign(begun.url);
    await new Promise(() => undefined);
  } catch (error) {
    change('out', messageOf(error));
  }
}

function leave(): void {
  clearTimeout(timer);
  tokens = undefined;
  accessToken.value = undefined;
  sessionStorage.removeItem(TOKENS);
  localStorage.removeItem(WAS_IN);
  change('out');
}

async function signOut(): Promise<void> {
  // The next user of this browser may be another person.
  deleteDrafts();
  const idToken = tokens?.id;
  leave();
  const end = await discover(settings).then(
    (provider) => signOutUrl(provider, settings, idToken),
    () => undefined,
  );
  location.assign(end ?? `${UI_PATH}/`);
}

function change(state: Session['state'], problem?: string): void {
  session.value = {
    state,
    name: tokens === undefined ? '' : nameIn(tokens),
    subject: tokens === undefined ? '' : subjectIn(tokens),
    problem,
    signIn: () => void begin({ isSilent: false }),
    signOut: () => void signOut(),
  };
}

function takeAttempt(): Attempt | undefined {
  const left = stored<Attempt>(sessionStorage, ATTEMPT);
  sessionStorage.removeItem(ATTEMPT);
  return left;
}

function stored<T>(storage: Storage, key: string): T | undefined {
  try {
    return (JSON.parse(storage.getItem(key) ?? 'null') as T | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
