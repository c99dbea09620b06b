import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { readPermissions } from '../../src/config/permissions_file.ts';
import { KEYS, settingOf } from '../../src/config/schema.ts';
import { ROOT, readDocuments, section } from './documents.ts';

const DOCUMENTS = readDocuments();

/** Blocks of a language, each named by its document and number. */
function examples(language: string): readonly { readonly name: string; readonly text: string }[] {
  return DOCUMENTS.flatMap(({ path, blocks }) =>
    blocks.filter((block) => block.language === language).map(({ text }, i) => ({ name: `${path}, ${i + 1}`, text })),
  );
}

for (const { name, text } of examples('json')) {
  test(`The JSON of ${name} is valid`, () => void JSON.parse(text));
}

for (const { name, text } of examples('yaml')) {
  const isPermissions = /\b(CREATE|READ|UPDATE|DELETE)_(ANY|OWN)\b/.test(text);
  test(`The YAML of ${name} is ${isPermissions ? 'a valid permissions file' : 'a configuration'}`, () => {
    if (isPermissions) {
      assert.ok(readPermissions(text, name).length > 0);
      return;
    }
    const config = loadConfig({ env: {}, cwd: '/', cores: 2, readFile: () => text });
    for (const [key, value] of Object.entries(parse(text))) {
      assert.notDeepEqual(value, settingOf(key as (typeof KEYS)[number]).default, `${key} is the default anyway`);
      assert.ok(key in config, key);
    }
  });
}

test('docs/limits.md has the actual defaults', () => {
  const limits = DOCUMENTS.find(({ path }) => path === 'docs/limits.md');
  assert.ok(limits);
  const rows = [...section(limits, 'Stored data and subscriptions').matchAll(/^\| `(\w+)` \| (\d+) \|/gm)];
  assert.ok(rows.length >= 9);
  for (const [, name = '', value] of rows) {
    const key = KEYS.find((one) => one === name);
    assert.ok(key, `there is no setting ${name}`);
    assert.equal(settingOf(key).default, Number(value), name);
  }
});

test('Every setting to which a document gives a value exists', () => {
  const given = DOCUMENTS.filter(({ path }) => /^(README|docs\/.+)\.md$/.test(path)).flatMap(({ path, words }) =>
    words.flatMap((word) => {
      const [, key] = /^([a-z]+(?:_[a-z]+)+): \S+$/.exec(word) ?? [];
      return key === undefined ? [] : [{ path, key }];
    }),
  );
  assert.ok(given.length > 5);
  assert.deepEqual(
    given.filter(({ key }) => !(KEYS as readonly string[]).includes(key)),
    [],
  );
});

test('The workflow runs .ci/run, with official actions of a major version', () => {
  const workflow = parse(readFileSync(`${ROOT}.github/workflows/ci.yml`, 'utf8')) as {
    readonly jobs: Record<string, { readonly steps: readonly { readonly uses?: string; readonly run?: string }[] }>;
  };
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
  assert.ok(steps.some(({ run }) => run === '.ci/run'));
  const actions = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses]));
  for (const action of actions) assert.match(action, /^actions\/[\w-]+@v\d+$/);
});

for (const name of ['bug', 'feature', 'config']) {
  test(`The issue template ${name} is YAML with the members that hosts require`, () => {
    const form = parse(readFileSync(`${ROOT}.github/ISSUE_TEMPLATE/${name}.yml`, 'utf8')) as Record<string, unknown>;
    if (name === 'config') assert.equal(form['blank_issues_enabled'], true);
    else for (const member of ['name', 'description', 'body']) assert.ok(member in form, member);
  });
}
