import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runSinkRounds } from './sink_rounds.ts';

const KILLS = 3;

test(`After ${KILLS} crashes a webhook and a resuming subscriber have every event, in order per object`, async (t) => {
  const { events, interrupted, repeated, problems } = await runSinkRounds({ kills: KILLS, seed: 1, atEnd: after });
  assert.deepEqual(problems, []);
  assert.ok(events > 300, `${events} events`);
  t.diagnostic(`${events} events, ${interrupted} requests interrupted, ${repeated} deliveries repeated`);
});
