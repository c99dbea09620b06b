import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Files, isReleased, RELEASED_FILES, releasedFiles, releaseNotes } from '../../deploy/packages/release.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const files: Files = Object.fromEntries(RELEASED_FILES.map((path) => [path, readFileSync(ROOT + path, 'utf8')]));
const { version: current } = JSON.parse(files['package.json'] ?? '') as { readonly version: string };
const [DATE, NEXT] = ['2026-12-01', '97.1.0'];

/** The files with a changelog of these sections. */
function withChangelog(...sections: readonly string[]): Files {
  return { ...files, 'CHANGELOG.md': ['# Changelog\n', ...sections].join('\n') };
}

describe('A release', () => {
  const released = releasedFiles(files, NEXT, DATE);

  test('sets the version of the hub, its lock, its chart and its SDKs, and changes nothing else', () => {
    const lock = JSON.parse(released['package-lock.json'] ?? '') as {
      readonly version: string;
      readonly packages: Readonly<Record<string, { readonly version?: string }>>;
    };
    assert.deepEqual([lock.version, lock.packages['']?.version], [NEXT, NEXT]);
    for (const [path, text] of Object.entries(released)) {
      assert.ok(text.includes(NEXT), path);
      if (path === 'CHANGELOG.md') continue;
      assert.equal(text.replaceAll(NEXT, current), files[path], path);
    }
    const packages = (text = '') => text.match(/^ {4}"node_modules.*\n.*"version".*/gm);
    assert.deepEqual(packages(released['package-lock.json']), packages(files['package-lock.json']));
  });

  test('moves the unreleased changes to the version and date, and leaves none', () => {
    const changes = '### Added\n\n- One.\n\n### Fixed\n\n- Two.\n';
    const last = '## [1.2.3] - 2026-01-01\n\n### Added\n\n- Zero.\n';
    const before = withChangelog('## [Unreleased]\n', changes, last);
    const after = releasedFiles(before, '1.3.0', DATE);
    const expected = withChangelog('## [Unreleased]\n', `## [1.3.0] - ${DATE}\n`, changes, last);
    assert.equal(after['CHANGELOG.md'], expected['CHANGELOG.md']);
    assert.equal(releaseNotes(after, '1.3.0'), changes);
    assert.equal(isReleased(after, '1.3.0'), true);
    assert.equal(isReleased(before, '1.2.3'), false);
  });

  test('drops the sentence of a hub that was never released', () => {
    const first = withChangelog('## [Unreleased]\n', 'Nothing has been released yet. More.\n', '### Added\n\n- One.\n');
    const expected = withChangelog('## [Unreleased]\n', `## [1.0.0] - ${DATE}\n`, '### Added\n\n- One.\n');
    assert.equal(releasedFiles(first, '1.0.0', DATE)['CHANGELOG.md'], expected['CHANGELOG.md']);
  });

  const added = '### Added\n\n- One.\n';
  const last = '## [1.2.3] - 2026-01-01\n\n### Added\n\n- Zero.\n';
  for (const [what, changed, version, message] of [
    ['a version of two numbers', files, '1.0', /must be three numbers such as 1\.0\.0, found "1\.0"/],
    ['a leading v', files, 'v1.0.0', /found "v1\.0\.0"/],
    [
      'the last version again',
      withChangelog('## [Unreleased]\n', added, last),
      '1.2.3',
      /later than the last release, 1\.2\.3/,
    ],
    [
      'an earlier version',
      withChangelog('## [Unreleased]\n', added, last),
      '1.2.2',
      /later than the last release, 1\.2\.3/,
    ],
    ['no changes', withChangelog('## [Unreleased]\n', last), '2.0.0', /CHANGELOG\.md: there are no unreleased changes/],
    ['no section for changes', withChangelog(last), '2.0.0', /CHANGELOG\.md: there is no "## \[Unreleased\]"/],
    [
      'a file without the version',
      { ...files, 'docs/installing.md': '' },
      NEXT,
      /docs\/installing\.md: does not name the current/,
    ],
  ] as const) {
    test(`is rejected with ${what}`, () => {
      assert.throws(() => releasedFiles(changed, version, DATE), message);
    });
  }

  test('is later by its numbers, not by its letters', () => {
    const before = withChangelog('## [Unreleased]\n', added, '## [1.9.0] - 2026-01-01\n');
    assert.ok(isReleased(releasedFiles({ ...before }, '1.10.0', DATE), '1.10.0'));
  });
});
