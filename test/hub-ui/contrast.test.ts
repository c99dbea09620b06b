import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const TOKENS = readFileSync(new URL('../../src/hub-ui/styles/tokens.css', import.meta.url), 'utf8');
const THEMES = ['light', 'dark'] as const;

/** Light and dark color of a token, by its name without dashes. */
function token(name: string, theme: (typeof THEMES)[number]): string {
  const found = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(TOKENS);
  assert.ok(found !== null, `there is no token ${name}`);
  return found[theme === 'light' ? 1 : 2] ?? '';
}

/** Relative luminance, as WCAG 2 defines it. */
function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

const SURFACES = ['sunken', 'ground', 'surface', 'raised', 'hover'];
const TEXTS: readonly (readonly [string, readonly string[]])[] = [
  ['ink', [...SURFACES, 'chip', 'accent-soft', 'danger-soft', 'warn-soft', 'info-soft']],
  ['ink-soft', [...SURFACES, 'chip']],
  ['ink-faint', SURFACES],
  ['accent', ['ground', 'surface', 'raised', 'chip', 'accent-soft']],
  ['accent-ink', ['accent', 'accent-hover']],
  ['danger', ['surface', 'raised', 'danger-soft']],
  ['danger-ink', ['danger']],
  ['warn', ['surface', 'raised', 'warn-soft']],
  ['ok', ['surface', 'raised', 'ok-soft']],
  ['info', ['surface', 'raised', 'info-soft']],
];
/** Borders of controls, and the focus indicator. */
const EDGES: readonly (readonly [string, readonly string[]])[] = [
  ['line-strong', ['surface', 'raised', 'ground']],
  ['focus', ['surface', 'raised', 'ground']],
];
for (const [least, pairs] of [[4.5, TEXTS] as const, [3, EDGES] as const]) {
  for (const theme of THEMES) {
    for (const [front, backs] of pairs) {
      test(`${front} has a contrast of at least ${least} to 1 in the ${theme} theme`, () => {
        for (const back of backs) {
          const found = contrast(token(front, theme), token(back, theme));
          assert.ok(found >= least, `${found.toFixed(2)} on ${back}`);
        }
      });
    }
  }
}

test('chip has a contrast of at least 1.4 to 1 to its background in the dark theme', () => {
  for (const back of ['ground', 'surface', 'raised']) {
    const found = contrast(token('chip', 'dark'), token(back, 'dark'));
    assert.ok(found >= 1.4, `${found.toFixed(2)} on ${back}`);
  }
});
