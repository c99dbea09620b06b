import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { installed, run, runInstall } from '../clients/generators/tools.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { SDK } from './sdk_document.ts';

const NOTEBOOK = new URL('../../docs/dwell-times.ipynb', import.meta.url);
const CLI = fileURLToPath(new URL('../../src/cli/cli.ts', import.meta.url));
const PIP = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '20'];
/** Time limit for the packages, which have 100 MB. */
const INSTALL_MS = 300_000;
/** Difference that the durations of the hub may have: the interval of the positions, for each of two visits. */
const TOLERANCE_SECONDS = 20;

const python = await installed('notebook', async (folder) => {
  await runInstall('python3', ['-m', 'venv', folder], { cwd: folder });
  await runInstall(join(folder, 'bin/python'), [...PIP, `${SDK}python[pandas,geo]`], {
    cwd: folder,
    timeoutMs: INSTALL_MS,
  });
});

interface Notebook {
  readonly cells: readonly { readonly cell_type: string; readonly source: readonly string[]; outputs?: unknown[] }[];
}

test('The cells of docs/dwell-times.ipynb compute dwell times with a hub, from its CSV', {
  skip: python.skip,
}, async (t) => {
  const { cells } = JSON.parse(await readFile(NOTEBOOK, 'utf8')) as Notebook;
  const codes = cells.filter(({ cell_type: type }) => type === 'code');
  assert.ok(
    codes.every(({ outputs }) => outputs?.length === 0),
    'the notebook is stored without outputs',
  );
  const cwd = temporaryFolder();
  const hub = await openTestHub({ history: true });
  t.after(() => hub.close());
  const program = codes.map(({ source }) => source.join(''));
  program.push('print(comparison.map(lambda each: each.total_seconds()).to_json(orient="index"))', 'hub.close()');
  await writeFile(join(cwd, 'notebook.py'), program.join('\n\n'));
  const env = { HUB_URL: hub.origin, HUB_COMMAND: `${process.execPath} ${CLI}` };
  const output = await run(join(python.folder, 'bin/python'), ['notebook.py'], { cwd, env });
  assert.match(output, /Sent 480 locations: accepted 480, rejected 0/);
  const [line = ''] = output.split('\n').filter((each) => each.startsWith('{'));
  const areas = JSON.parse(line) as Readonly<Record<string, { readonly positions: number; readonly hub: number }>>;
  assert.deepEqual(Object.keys(areas), ['Dock', 'Exit']);
  for (const [area, { positions, hub: visits }] of Object.entries(areas)) {
    assert.ok(Math.abs(positions - visits) <= TOLERANCE_SECONDS, `${area}: ${positions} s, ${visits} s`);
  }
  // Both trucks wait at the dock, for 10 and for 20 minutes.
  assert.ok((areas['Dock']?.positions ?? 0) >= 1800, line);
});
