import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';

/** A program that derives valid and invalid requests from an OpenAPI document, and checks the replies. */
const PROGRAM = process.env['SCHEMATHESIS'] ?? 'schemathesis';
const present = spawnSync(PROGRAM, ['--version']).status === 0;
const SECONDS = 20;

/**
 * Excluded checks, whose promises no document can make: that every value that matches a schema is accepted (an id may
 * be taken, a zone unknown), and that all resources below a new entity exist (sensors do not until they are set).
 */
const LEFT_OUT = ['positive_data_acceptance', 'ensure_resource_availability'];

describe('schemathesis', { skip: present ? false : 'schemathesis is not installed' }, () => {
  let hub: TestHub;
  before(async () => {
    hub = await openTestHub();
  });
  after(() => hub.close());

  for (const version of ['v1', 'v2']) {
    it(`finds no server error and nothing undocumented in ${version}`, async (t) => {
      const base = `${hub.origin}/hub/${version}`;
      const { code, output } = await run(hub.folder, [
        ...['run', `${base}/openapi.json`, '--url', base, '--seed', '2', '-n', '10', '--max-time', String(SECONDS)],
        ...['--continue-on-failure', '--no-color', '--exclude-checks', LEFT_OUT.join(',')],
      ]);
      t.diagnostic(/\d+ generated.*/.exec(output)?.[0] ?? 'no summary');
      assert.equal(code, 0, output);
    });
  }

  it('has found no internal error of the hub', () => {
    const faults = hub.logged.filter(({ level }) => level === 'error');
    assert.deepEqual(faults, []);
  });
});

/** The program writes files to its working directory. */
function run(cwd: string, args: readonly string[]): Promise<{ code: unknown; output: string }> {
  return new Promise((resolve) => {
    execFile(PROGRAM, args, { cwd, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, output: stdout + stderr });
    });
  });
}
