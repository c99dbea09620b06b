import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../src/hub-ui/', import.meta.url));
const NAMES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
const MODULES = NAMES.filter((name) => name.endsWith('.module.css'));
const SOURCES = NAMES.filter((name) => /\.tsx?$/.test(name)).map((name) => ({ name, text: read(name) }));

function read(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8');
}

/** Class names that a style sheet itself defines. */
function definedIn(css: string): Set<string> {
  const own = css.replace(/:global\([^)]*\)|\/\*[\s\S]*?\*\/|"[^"]*"/g, '');
  const selectors = own.matchAll(/([^{}]+)\{/g);
  return new Set(
    [...selectors].flatMap(([, text = '']) => [...text.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, c = '']) => c)),
  );
}

/** Class names that sources use, by style sheet path; `*` for computed names. */
function usedFrom(): Map<string, Set<string>> {
  const used = new Map(MODULES.map((name) => [name, new Set<string>()]));
  const add = (from: string, path: string, name: string): void => {
    const key = normalize(join(dirname(from), path));
    (used.get(key) ?? assert.fail(`${from}: there is no ${key}`)).add(name);
  };
  for (const { name: source, text } of SOURCES) {
    for (const [, alias = '', path = ''] of text.matchAll(/import (\w+) from '([^']+\.module\.css)'/g)) {
      for (const [, name, other] of text.matchAll(new RegExp(`(?<!/)\\b${alias}(?:\\.(\\w+)|(\\[))`, 'g'))) {
        add(source, path, other === undefined ? (name ?? '') : '*');
      }
    }
  }
  for (const sheet of MODULES) {
    for (const [, name = '', path = ''] of read(sheet).matchAll(/composes: (\w+) from "([^"]+)"/g))
      add(sheet, path, name);
  }
  return used;
}

test('Every class of a style sheet is used, and every used class is defined', () => {
  const used = usedFrom();
  for (const sheet of MODULES) {
    const names = used.get(sheet) ?? new Set();
    const defined = definedIn(read(sheet));
    if (names.delete('*')) for (const name of defined) names.add(name);
    assert.deepEqual([...names].sort(), [...defined].sort(), sheet);
  }
});

test('A style sheet is next to its component, and only resets and tokens are global', () => {
  const whole = NAMES.filter((name) => name.endsWith('.css') && !name.endsWith('.module.css'));
  assert.deepEqual(whole.sort(), ['styles/base.css', 'styles/tokens.css']);
  for (const name of whole) assert.deepEqual([...definedIn(read(name))], [], name);
  for (const sheet of MODULES) {
    const isBeside = SOURCES.some(({ name, text }) => {
      return dirname(name) === dirname(sheet) && text.includes(`'./${sheet.split('/').at(-1)}'`);
    });
    assert.ok(isBeside, sheet);
  }
});

test('No component uses a literal class name', () => {
  for (const { name, text } of SOURCES) assert.doesNotMatch(text, /\bclass(?:Name)?(?:=["']|=\{`[^$]|: '| = ')/, name);
});
