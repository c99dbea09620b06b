import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './tidy/source_file.ts';

/** Files that import other test files, so that these share a process. */
export interface Shares {
  readonly paths: readonly string[];
  remove(): void;
}

/**
 * Writes files that import a share of the test files each. A file that cannot be imported is a test that fails. The first
 * test lasts until all files are there: importing delays tests that wait for sockets and timers.
 */
export function shareOut(files: readonly string[], count: number): Shares {
  const folder = mkdtempSync(join(tmpdir(), 'hub-tests-'));
  const paths = Array.from({ length: count }, (_, share) => {
    const urls = files
      .filter((_file, index) => index % count === share)
      .map((path) => pathToFileURL(join(ROOT, path)).href);
    const path = join(folder, `share_${share + 1}.test.mjs`);
    writeFileSync(path, SHARE.replace('[]', JSON.stringify(urls, undefined, 2)));
    return path;
  });
  return { paths, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const SHARE = `import { test } from 'node:test';

const loading = Promise.withResolvers();
test('The files of a share are loaded', () => loading.promise);
for (const url of []) {
  try {
    await import(url);
  } catch (error) {
    test(url, () => {
      throw error;
    });
  }
}
loading.resolve();
`;
