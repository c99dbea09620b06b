import { render } from 'preact';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';
import { App } from './app.tsx';
import { recordEvents } from './hub/event_log.ts';
import { openLive } from './hub/live.ts';
import { loadSettings } from './hub/settings.ts';
import { applyTheme } from './shell/theme.ts';

applyTheme();
await loadSettings();
openLive();
recordEvents();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
