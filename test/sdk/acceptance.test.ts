import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSingleHub } from './killed_hubs.ts';
import { runSdkRounds } from './sdk_rounds.ts';
import { startTypeScript } from './sdk_run.ts';

test('The picture of the TypeScript SDK is that of the hub after kills, and no event is missed or repeated', async () => {
  const findings = await runSdkRounds({
    hubs: await openSingleHub(after),
    start: startTypeScript,
    seed: 1,
    everyMs: 800,
    kills: 3,
    atEnd: after,
  });
  assert.deepEqual(findings.problems, []);
  assert.ok(findings.events > 100, `only ${findings.events} events`);
});
