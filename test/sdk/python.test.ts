import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { run } from '../clients/generators/tools.ts';
import { PYTHON_ENV, startPython } from './python_run.ts';
import { installPythonTools } from './python_tools.ts';
import { SDK } from './sdk_document.ts';
import { openSingleHub } from './killed_hubs.ts';
import { runSdkRounds } from './sdk_rounds.ts';

const { folder, skip } = await installPythonTools();

describe('The Python SDK', { skip }, () => {
  const python = join(folder, 'bin/python');
  const running = { cwd: `${SDK}python`, env: PYTHON_ENV as Record<string, string> };

  test('passes its own tests', async () => {
    const printed = await run(python, ['-m', 'unittest', 'discover', '-s', 'tests'], running);
    assert.match(printed, /Ran \d\d tests/);
  });

  test('has strict types', async () => {
    const printed = await run(python, ['-m', 'mypy', '--cache-dir', join(folder, 'mypy'), 'src'], running);
    assert.match(printed, /^Success: no issues found in \d+ source files/);
  });

  test('has the picture of the hub after kills, and misses or repeats no event', async () => {
    const start: Parameters<typeof runSdkRounds>[0]['start'] = (url, atEnd) => startPython(folder, url, atEnd);
    const findings = await runSdkRounds({
      hubs: await openSingleHub(after),
      start,
      seed: 2,
      everyMs: 800,
      kills: 3,
      atEnd: after,
    });
    assert.deepEqual(findings.problems, []);
    assert.ok(findings.events > 100, `only ${findings.events} events`);
  });
});
