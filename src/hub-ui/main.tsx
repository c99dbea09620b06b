import { render } from 'preact';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';
import { App } from './app.tsx';
import { session } from './hub/access.ts';
import { openLive } from './hub/live.ts';
import { loadSettings, settings } from './hub/settings.ts';
import { applyTheme } from './shell/theme.ts';

applyTheme();
await loadSettings();
const signIn = settings.peek().sign_in;
if (signIn !== null) await (await import('./signin/session.ts')).startSession(signIn);
if (session.peek()?.state !== 'out') openLive();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
