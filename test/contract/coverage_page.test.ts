import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { TOPIC_NAMES } from '../../src/fanout/topic_name.ts';
import { coveragePage, IN_DEPTH, OF_SOCKET, OF_TOPICS } from './coverage.ts';
import { ENDPOINTS } from './endpoints.ts';
import { ASIDES } from './statements/asides.ts';
import { statementsOf } from './statements/specification.ts';
import { CHAPTERS } from './statements/statements.ts';
import { isTest } from './test_names.ts';

const PAGE = new URL('COVERAGE.md', import.meta.url);
const SPECIFICATION = new URL('../../../shared/spec/location-hub-specification.md', import.meta.url);
const specification = existsSync(SPECIFICATION) ? readFileSync(SPECIFICATION, 'utf8') : undefined;
const skip = specification ? false : 'the specification is not here';

const STATEMENTS = Object.values(CHAPTERS).flat();
/** SHA-256 of the statements for which the rows were written. */
const READ = '096fd1e329d141e0ed04c7b87626f7781da2631efdfd48cad96a4f987e82e1be';

const REWRITE = 'rewrite it: npm run generate';

/** Endpoints that the specification describes in prose. */
const IN_WORDS: Readonly<Record<string, readonly string[]>> = {
  'vendor location notification endpoint': ['PUT /adapters/cisco/locations', 'POST /adapters/cisco/locations'],
  'consumption and usage statistic API': [
    'GET /stats/consumption/summary',
    'GET /stats/consumption/current',
    'GET /stats/consumption/{year}/{month}',
  ],
};
/** Has its own row, which names no method. */
const SOCKET = 'WebSocket /ws/socket';

describe('COVERAGE.md', () => {
  it('equals the result of coveragePage', () => {
    assert.equal(readFileSync(PAGE, 'utf8'), coveragePage(), REWRITE);
  });

  it('names only existing tests', () => {
    const named = [
      ...STATEMENTS.flatMap(({ tests }) => tests),
      ...Object.values(IN_DEPTH).flat(),
      ...Object.values(OF_TOPICS).flat(),
      ...OF_SOCKET,
    ];
    assert.deepEqual(
      named.filter((test) => !isTest(test)),
      [],
    );
  });

  it('names a test for every statement, in its own words', () => {
    assert.deepEqual(
      STATEMENTS.filter(({ tests, says }) => tests.length === 0 || says === ''),
      [],
    );
  });

  it('has every statement of the specification exactly once, and no other', { skip }, (t) => {
    const read = statementsOf(specification ?? '');
    const aside = new Set(Object.keys(ASIDES));
    const wanted = read.map(({ at }) => at);
    t.diagnostic(`${read.length} statements, ${aside.size} of them of no hub`);
    assert.equal(new Set(wanted).size, wanted.length, 'two statements have one name');
    assert.deepEqual(STATEMENTS.map(({ at }) => at).toSorted(), wanted.filter((at) => !aside.has(at)).toSorted());
    assert.deepEqual(
      [...aside].filter((at) => !wanted.includes(at)),
      [],
    );
  });

  it('was written for the current text of the specification', { skip }, () => {
    const texts = statementsOf(specification ?? '').map(({ text }) => text);
    const digest = createHash('sha256').update(texts.join('\n')).digest('hex');
    assert.equal(digest, READ, 'a statement has changed: see that its row and tests still fit, then note the digest');
  });

  it('names only resources of the hub', () => {
    const paths = new Set(ENDPOINTS.map(({ path }) => path));
    assert.deepEqual(
      Object.keys(IN_DEPTH).filter((path) => !paths.has(path)),
      [],
    );
    assert.deepEqual(Object.keys(OF_TOPICS).toSorted(), TOPIC_NAMES.toSorted());
  });

  it('has every endpoint of the specification', { skip }, (t) => {
    const wanted = tableOf('Endpoints').flatMap(([methods = '', paths = '']) => endpointsOf(methods, paths));
    t.diagnostic(`${wanted.length} endpoints`);
    const titles = ENDPOINTS.flatMap(({ path, answers }) => [path, ...Object.keys(answers).map((m) => `${m} ${path}`)]);
    assert.ok(wanted.length > 30);
    assert.deepEqual(
      wanted.filter((endpoint) => !titles.includes(endpoint)),
      [],
    );
  });

  it('has every topic of the specification', { skip }, () => {
    const wanted = tableOf('Events').map(([topic = '']) => topic);
    assert.ok(wanted.length >= 6);
    assert.deepEqual(
      wanted.filter((topic) => !(topic in OF_TOPICS)),
      [],
    );
  });
});

/** Cells of the first table under a heading of the specification. */
function tableOf(heading: string): string[][] {
  const [, section = ''] = (specification ?? '').split(`\n## ${heading}\n`);
  const lines = section.split('\n## ')[0]?.split('\n') ?? [];
  const start = lines.findIndex((line) => line.startsWith('|---') || line.startsWith('| ---'));
  const end = lines.findIndex((line, i) => i > start && !line.startsWith('|'));
  return lines.slice(start + 1, end < 0 ? undefined : end).map((line) => {
    return line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  });
}

/** Returns `GET /zones` for each method and path of a row, or the path alone if the row names no method. */
function endpointsOf(methods: string, paths: string): readonly string[] {
  if (paths.startsWith(SOCKET)) return [];
  const inWords = IN_WORDS[paths];
  if (inWords !== undefined) return inWords;
  return paths.split(',').flatMap((text) => {
    const path = text.trim().replaceAll(/:(\w+)/g, '{$1}');
    return methods === 'unspecified' ? [path] : methods.split(',').map((method) => `${method.trim()} ${path}`);
  });
}
