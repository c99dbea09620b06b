import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportOf, runCrashRounds } from './crash_rounds.ts';

const WORTH = [
  'entities acknowledged',
  'last locations that must be there',
  'memberships checked',
  'entries told',
  'of these told once',
] as const;

test('Whatever was acknowledged is there after crashes in the middle of mixed load, and nothing is told twice', async () => {
  const options = { rounds: 4, seed: 11 };
  const findings = await runCrashRounds(options);
  const report = reportOf(findings, options);
  assert.deepEqual(findings.wrongs, [], report);
  // What was looked at was worth it.
  for (const what of WORTH) assert.ok((findings.counts.get(what) ?? 0) > 5, `${what}\n${report}`);
});
