import { isDark } from '../shell/theme.ts';

/** Colours of lines, told apart also by those who see red and green alike. */
const LIGHT = ['#0b6e66', '#1c5fb8', '#b36b00', '#a3357a', '#5b4bb3', '#5d6974', '#9c2f1d', '#3f7d20'];
const DARK = ['#3bd0bd', '#86baff', '#f2b65c', '#f08fcb', '#b3a6ff', '#a2adb8', '#ff9087', '#a5d97a'];

/** The colour of the line at an index; reads the theme. */
export function lineColour(index: number): string {
  const colours = isDark() ? DARK : LIGHT;
  return colours[index % colours.length] ?? '';
}

/** Colours of what surrounds the lines. */
export function frameColours(): { readonly ink: string; readonly grid: string } {
  return isDark()
    ? { ink: '#929ea9', grid: 'rgb(233 237 240 / 0.07)' }
    : { ink: '#5d6974', grid: 'rgb(18 24 30 / 0.07)' };
}
