import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { installed, run, runInstall } from './generators/tools.ts';
import { assertSeen, DOCUMENTS, openWorkshop, type Workshop } from './generators/walk.ts';

const PACKAGES = ['openapi-python-client==0.29.1', 'mypy==2.4.1'];
const PIP = ['install', '--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '20'];
const WALK = new URL('generators/python/walk.py', import.meta.url);
/** The generator knows no plain text as a body. The operation is there, with its JSON. */
const WARNINGS = ['WARNING parsing POST /validator/rules/locating within validator.'];

const present = spawnSync('python3', ['--version']).status === 0;
const tool = !present
  ? { folder: '', skip: 'python3 is not installed' }
  : await installed('openapi-python-client-0.29.1', async (folder) => {
      await runInstall('python3', ['-m', 'venv', folder], { cwd: folder });
      await runInstall(join(folder, 'bin/python'), ['-m', 'pip', ...PIP, ...PACKAGES], { cwd: folder });
    });

describe('the client that openapi-python-client makes', { skip: tool.skip }, () => {
  let hub: TestHub;
  let workshop: Workshop;
  before(async () => {
    hub = await openTestHub();
    workshop = await openWorkshop(hub);
  });
  after(async () => {
    await workshop.close();
    await hub.close();
  });

  const python = (args: readonly string[]) => {
    return run(join(tool.folder, 'bin/python'), args, { cwd: workshop.folder, env: { PYTHONPATH: workshop.folder } });
  };
  /** Writes the package; returns its warnings. */
  const generate = async (document: (typeof DOCUMENTS)[number], name: string) => {
    const options = ['--meta', 'none', '--overwrite', '--output-path', name, '--path', workshop.document(document)];
    const printed = await python(['-m', 'openapi_python_client', 'generate', ...options]);
    return printed.split('\n').filter((line) => /^(WARNING|ERROR|Unable)/.test(line));
  };

  for (const document of DOCUMENTS) {
    it(`of ${document} compiles, and is complete`, async () => {
      const name = document.replaceAll(/\W/g, '_');
      assert.deepEqual(await generate(document, name), WARNINGS);
      await python(['-m', 'compileall', '-q', name]);
    });
  }

  it('has the types that a program needs, and speaks with the hub', async () => {
    await generate('v2/openapi.json', 'hub_client');
    await cp(WALK, join(workshop.folder, 'walk.py'));
    await python(['-m', 'mypy', '--strict', '--follow-imports=silent', 'walk.py']);
    assertSeen(await python(['walk.py', hub.base]));
  });
});
