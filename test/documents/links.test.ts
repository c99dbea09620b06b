import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { type Document, documentOf, ROOT, readDocuments } from './documents.ts';

const DOCUMENTS = readDocuments();

/** Links of a document without a target, with the reason. */
function brokenLinks({ path, links }: Document, documents: readonly Document[]): string[] {
  return links.flatMap(({ written, target, anchor }) => {
    const document = documents.find((other) => other.path === target);
    if (document === undefined && !existsSync(ROOT + target)) return [`${path}: there is no ${target} (${written})`];
    if (anchor === undefined || document?.anchors.has(anchor)) return [];
    return [`${path}: ${target} has no heading for #${anchor}`];
  });
}

/** File paths in backticks: `src/auth/`, but not patterns such as `test/core/*.test.ts`. */
function missingPaths({ path, words }: Document): string[] {
  return words
    .filter((word) => /^(src|workers|wasm|bench|test|docs|deploy|\.github|\.ci)\/[\w./-]*$/.test(word))
    .filter((word) => !existsSync(ROOT + word))
    .map((word) => `${path}: there is no ${word}`);
}

test('Every link refers to an existing file and heading', () => {
  assert.ok(DOCUMENTS.flatMap(({ links }) => links).length > 100);
  assert.deepEqual(
    DOCUMENTS.flatMap((document) => brokenLinks(document, DOCUMENTS)),
    [],
  );
});

test('Every file and folder named in a document exists', () => {
  assert.deepEqual(DOCUMENTS.flatMap(missingPaths), []);
});

test('brokenLinks and missingPaths only find missing targets', () => {
  const other = documentOf('docs/b.md', '# B\n\n## One, two\n\n```sh\n# a comment\n```\n');
  const text = '# A\n[b](b.md) [two](b.md#one-two) [a](#a) `src/main.ts` `[no](link.md)` <https://a.example>\n';
  const kept = documentOf('docs/a.md', text);
  assert.deepEqual([...brokenLinks(kept, [kept, other]), ...missingPaths(kept)], []);
  const broken = documentOf('docs/a.md', '[c](c.md) [three](b.md#three) [comment](b.md#a-comment) `src/none.ts`\n');
  assert.equal(brokenLinks(broken, [broken, other]).length, 3);
  assert.deepEqual(missingPaths(broken), ['docs/a.md: there is no src/none.ts']);
});

test('README.md links every document of docs/, which otherwise contains only images, notebooks and decision records', () => {
  const names = readdirSync(`${ROOT}docs`).concat(
    readdirSync(`${ROOT}docs/tutorials`).map((name) => `tutorials/${name}`),
  );
  const readme = targets(DOCUMENTS.find(({ path }) => path === 'README.md'));
  const anywhere = DOCUMENTS.flatMap(targets);
  for (const name of names.filter((one) => one !== 'decisions' && one !== 'tutorials')) {
    assert.match(
      name,
      /^(tutorials\/)?[a-z0-9]+(-[a-z0-9]+)*\.(md|svg|ipynb)$/,
      `docs/${name} is no document, picture or notebook`,
    );
    const links = name.endsWith('.md') ? readme : anywhere;
    assert.ok(links.includes(`docs/${name}`), `no link refers to docs/${name}`);
  }
  for (const name of ['CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/decisions/README.md']) {
    assert.ok(readme.includes(name), name);
  }
});

test('docs/decisions/README.md lists every decision record under its number and title', () => {
  const index = readFileSync(`${ROOT}docs/decisions/README.md`, 'utf8');
  const records = readdirSync(`${ROOT}docs/decisions`).filter((name) => name !== 'README.md');
  const rows = records.map((name) => {
    const [, number, title] = /^# (\d+)\. (.+)\n/.exec(readFileSync(`${ROOT}docs/decisions/${name}`, 'utf8')) ?? [];
    assert.equal(number?.padStart(4, '0'), name.slice(0, 4), name);
    return `| ${number} | [${title}](${name}) |`;
  });
  assert.deepEqual(index.match(/^\| \d.*$/gm)?.toSorted(), rows.toSorted());
});

test('README.md can be read in one sitting: at most 200 lines', () => {
  const lines = readFileSync(`${ROOT}README.md`, 'utf8').split('\n').length - 1;
  assert.ok(lines <= 200, `it has ${lines}: move chapters to docs/`);
});

test('The repository has the files that code hosts expect', () => {
  const named = ['README.md', 'LICENSE', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', '.editorconfig'].concat([
    '.github/PULL_REQUEST_TEMPLATE.md',
    '.github/ISSUE_TEMPLATE/bug.yml',
    '.github/ISSUE_TEMPLATE/feature.yml',
    '.github/workflows/ci.yml',
  ]);
  for (const name of named) assert.ok(existsSync(ROOT + name) && statSync(ROOT + name).size > 0, `there is no ${name}`);
});

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

test('NOTICE names each package of the running hub and of its web UI', () => {
  const notice = readFileSync(`${ROOT}NOTICE`, 'utf8');
  const dependencies = ['package.json', 'src/hub-ui/package.json'].flatMap((path) => {
    return Object.entries((JSON.parse(readFileSync(ROOT + path, 'utf8')) as Manifest).dependencies);
  });
  const missing = dependencies
    .filter(([, version]) => !version.startsWith('file:'))
    .map(([name]) => name)
    .filter((name) => !notice.includes(`\n  ${name} `) && !notice.includes(`\n  ${name}\n`));
  assert.deepEqual(missing, []);
});

test('License is spelled as the API spells it', () => {
  const texts = DOCUMENTS.map(({ path, text }) => [path, text] as const);
  for (const [path, text] of [...texts, ['NOTICE', readFileSync(`${ROOT}NOTICE`, 'utf8')] as const]) {
    assert.doesNotMatch(text, /licence/i, path);
  }
});

function targets(document: Document | undefined): string[] {
  return (document?.links ?? []).map(({ target }) => target);
}
