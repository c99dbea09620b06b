import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'hub-theme';
const darkScheme = matchMedia('(prefers-color-scheme: dark)');
const systemIsDark = signal(darkScheme.matches);
darkScheme.addEventListener('change', ({ matches }) => {
  systemIsDark.value = matches;
});

/** Theme chosen by the user. */
export const theme = signal<Theme>(stored());

/** Returns whether the page is dark, for code that style sheets do not reach, such as a canvas. */
export function isDark(): boolean {
  return theme.value === 'system' ? systemIsDark.value : theme.value === 'dark';
}

/** Applies the theme to the page, now and whenever it changes. */
export function applyTheme(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    localStorage.setItem(KEY, theme.value);
    // The window frame of an installed page follows this color.
    const frame = isDark() ? '#161b20' : '#ffffff';
    document.querySelector('meta[name=theme-color]')?.setAttribute('content', frame);
  });
}

function stored(): Theme {
  const found = localStorage.getItem(KEY);
  return found === 'light' || found === 'dark' ? found : 'system';
}
