import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportOf, runCrashRounds } from './crash_rounds.ts';

const WORTH = [
  ['entities acknowledged', 5],
  ['last locations that must be there', 5],
  ['memberships checked', 5],
  ['entries published', 5],
  ['of these published once', 0],
  ['collisions published', 5],
  ['of these ended once', 0],
] as const;

test('Acknowledged writes survive crashes under mixed load, and no event is published twice', async () => {
  const options = { rounds: 4, seed: 11 };
  const findings = await runCrashRounds(options);
  const report = reportOf(findings, options);
  assert.deepEqual(findings.wrongs, [], report);
  // The rounds have exercised enough.
  for (const [what, least] of WORTH) assert.ok((findings.counts.get(what) ?? 0) > least, `${what}\n${report}`);
});
