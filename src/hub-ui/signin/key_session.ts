import { accessToken, permits, setRenew, type Session, session } from '../hub/access.ts';
import { PREFIX, UI_PATH } from '../hub/api_path.ts';
import { deleteDrafts } from '../hub/saved_drafts.ts';
import { getText, RequestError } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { errorText } from '../problems/sentences.ts';
import { permissionCheckOf, type TokenPermissions } from './permissions.ts';

/**
 * Session of this tab on a hub without an identity server: the user enters an API key. It is in session storage, so that
 * a reload needs no sign-in, and a new tab does.
 */

/** Storage key, different for each hub on an origin. */
const KEY = `${PREFIX}hub-api-key`;
/** Position of the id in a key. */
const ID: readonly [start: number, end: number] = [4, 20];

/** Interval of checks whether the key is still valid: a page that only receives events would not notice. */
const CHECK_MS = 10_000;

let key: string | undefined;
let permitsText = '';
let timer: ReturnType<typeof setInterval> | undefined;

/** Restores the session and sets `session`. */
export async function startKeySession(): Promise<void> {
  // A key cannot be renewed: it was revoked, or has expired.
  setRenew(async () => {
    clearInterval(timer);
    if (key !== undefined) change('ended');
    return false;
  });
  const restored = sessionStorage.getItem(KEY);
  if (restored === null) change('out');
  else await enter(restored, { isRestored: true });
}

/** Starts the session with a key, and opens the page with it, which loads data only at its start. */
async function signInByKey(given: string): Promise<void> {
  await enter(given);
  if (key !== undefined) location.reload();
}

/** Checks a key and starts the session, or shows why the hub rejects the key. */
async function enter(given: string, { isRestored = false } = {}): Promise<void> {
  accessToken.value = given;
  try {
    await loadPermits();
  } catch (error) {
    // The connection state shows why the hub does not answer about a key that was valid before.
    if (isRestored && !(error instanceof RequestError && error.status === 401)) return begin(given);
    accessToken.value = undefined;
    sessionStorage.removeItem(KEY);
    change('out', errorText(error));
    return;
  }
  begin(given);
}

function begin(given: string): void {
  key = given;
  sessionStorage.setItem(KEY, given);
  change('in');
  timer = setInterval(() => void loadPermits().catch(() => undefined), CHECK_MS);
}

async function loadPermits(): Promise<void> {
  const text = await getText(`${UI_PATH}/permitted.json`, { isOnce: true });
  if (text === permitsText) return;
  permitsText = text;
  permits.value = permissionCheckOf(JSON.parse(text) as TokenPermissions);
}

function leave(): void {
  key = undefined;
  accessToken.value = undefined;
  sessionStorage.removeItem(KEY);
  // Also ends what the page has opened with the key.
  location.assign(`${UI_PATH}/`);
}

function change(state: Session['state'], problem?: string): void {
  const id = key?.slice(...ID) ?? '';
  session.value = {
    state,
    name: key === undefined ? '' : t('API key {id}', { id }),
    subject: id,
    problem,
    signIn: leave,
    signInByKey,
    signOut() {
      // The next user of this browser may be another person.
      deleteDrafts();
      leave();
    },
  };
}
