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

export interface ShareOptions {
  readonly count: number;
  /** Files that have a process of their own besides these. */
  readonly alone?: ReadonlySet<string>;
  /** Modules imported before the files, so that their hooks run after the last file. */
  readonly common: readonly string[];
  /** Timeout for each test file. */
  readonly timeoutMs: number;
}

/**
 * Writes files, each of which imports a share of the test files. Every test file becomes a suite named by its path, so that
 * its hooks apply only to its own tests. A file that cannot be imported is a failed suite. The first test lasts until all
 * files are imported, because importing delays tests that wait for sockets and timers.
 */
export function shareOut(files: readonly string[], { count, alone, common, timeoutMs }: ShareOptions): Shares {
  const folder = mkdtempSync(join(tmpdir(), 'hub-tests-'));
  const urlOf = (path: string) => pathToFileURL(join(ROOT, path)).href;
  const together = files.filter((path) => alone?.has(path) !== true);
  const shared = Array.from({ length: Math.min(count, together.length) }, (_, share) => {
    return together.filter((_file, index) => index % count === share);
  });
  const shares = [...shared, ...files.filter((path) => alone?.has(path)).map((path) => [path])];
  const paths = shares.map((share, i) => {
    const urls = share.map((path) => [path, urlOf(path)]);
    const path = join(folder, `share_${i + 1}.test.mjs`);
    const imports = common.map((each) => `import '${urlOf(each)}';\n`).join('');
    writeFileSync(path, imports + textOf(urls, timeoutMs));
    return path;
  });
  return { paths, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Imports one file at a time: a module that is evaluated while another one waits could register its tests in the wrong suite. */
const textOf = (
  urls: readonly (readonly string[])[],
  timeoutMs: number,
): string => `import { describe, test } from 'node:test';

const loading = Promise.withResolvers();
test('The files of a share are loaded', () => loading.promise);
for (const [path, url] of ${JSON.stringify(urls, undefined, 2)}) {
  await new Promise((loaded) => {
    describe(path, { timeout: ${timeoutMs} }, () => import(url).finally(loaded));
  });
}
loading.resolve();
`;
