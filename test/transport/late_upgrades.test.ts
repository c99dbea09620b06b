import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

/** The system's allocator overwrites freed memory with this byte, if it supports that. */
const FILLED = { MALLOC_PERTURB_: '85' };

test('A connection whose client was authenticated asynchronously stays open, whatever freed memory contains', async () => {
  const program = `${import.meta.dirname}/late_upgrades.ts`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], {
    env: { ...process.env, ...FILLED },
    timeout: 60_000,
  });
  assert.deepEqual(JSON.parse(stdout), { answered: 500, ended: 0 });
  // The native server prints a warning when data is sent outside a cork.
  assert.equal(stderr, '');
});
