import { render } from 'preact';
import './styles/tokens.css';
import './styles/base.css';
import { signalAlert } from './alerts/alert_notice.ts';
import { followAlerts } from './alerts/alert_store.ts';
import { App } from './app.tsx';
import { followLinks } from './controls/link.tsx';
import { applyTheme } from './controls/theme.ts';
import { session } from './hub/access.ts';
import { UI_PATH } from './hub/api_path.ts';
import { recordEvents } from './hub/event_log.ts';
import { openLive } from './hub/live.ts';
import { pause, backoffMs } from './hub/retry.ts';
import { loadSettings, settings } from './hub/settings.ts';

/** Attempt from which the backoff of loading the settings stays constant, since users are waiting. */
const ATTEMPTS_APART = 4;

applyTheme();
followLinks();
if (await loadSettings({ isOnce: true })) await startSession();
else void startLater();
if (session.peek()?.state !== 'out') openLive();
recordEvents();
if (session.peek()?.state !== 'out') followAlerts(signalAlert);
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
registerServiceWorker();

async function startSession(): Promise<void> {
  const signIn = settings.peek().sign_in;
  if (signIn === null) return;
  if ('by' in signIn) await (await import('./signin/key_session.ts')).startKeySession();
  else await (await import('./signin/session.ts')).startSession(signIn);
}

/** Shows the shell until a hub responds, then reloads the page if sign-in is required. */
async function startLater(): Promise<void> {
  for (let attempt = 1; !(await loadSettings({ isOnce: true })); attempt++) {
    await pause(backoffMs(Math.min(attempt, ATTEMPTS_APART), Math.random));
  }
  if (settings.peek().sign_in !== null) location.reload();
}

/**
 * Registers the service worker that caches the shell, so that the page opens without a hub and can be installed. Browsers
 * allow it over HTTPS and on localhost only. Runs after the page has loaded, so that nothing waits for it.
 */
function registerServiceWorker(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const folder = `${UI_PATH}/`;
  const register = (): void => {
    // The page works without it.
    navigator.serviceWorker
      .register(`${folder}sw.js`, { scope: folder, updateViaCache: 'none' })
      .catch(() => undefined);
  };
  if (document.readyState === 'complete') register();
  else addEventListener('load', register, { once: true });
}
