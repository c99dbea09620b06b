import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

/** Memory that is freed is filled with this at once, where the system's allocator knows how to. */
const FILLED = { MALLOC_PERTURB_: '85' };

test('a connection whose client took time to be known stays open, whatever freed memory holds', async () => {
  const program = `${import.meta.dirname}/late_upgrades.ts`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], {
    env: { ...process.env, ...FILLED },
    timeout: 60_000,
  });
  assert.deepEqual(JSON.parse(stdout), { answered: 500, ended: 0 });
  // The native server complains there of what is sent without a cork.
  assert.equal(stderr, '');
});
