import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestHub } from '../support/running_hub.ts';
import { runCli } from './run_cli.ts';

test('demo --history sends locations of past hours, whose visits a hub with history returns', async (context) => {
  const hub = await openTestHub({ history: true });
  context.after(hub.close);
  const fromMs = Date.now() - 0.3 * 3_600_000;
  const { code, err } = await runCli('demo', '--history', '0.25', '--seconds', '0.2', '--hub', hub.origin);
  assert.equal(code, 0, err);
  assert.match(err, /\nFed 0.25 hours of the past: \d{4} locations in \d+ s\nFeeding 40 tags/);
  const span = `from=${new Date(fromMs).toISOString()}&to=${new Date(Date.now() + 60_000).toISOString()}`;
  const { fences } = (await hub.get(`/analytics/dwell?${span}`)).body;
  const visited = fences.filter(({ visits }: { visits: number }) => visits > 0);
  assert.ok(visited.length > 3, JSON.stringify(fences));
  // No visit lasts longer than all of it.
  for (const { p95_ms: longest } of visited) assert.ok(longest <= Date.now() - fromMs);
  // The fences have their timers again.
  assert.ok((await hub.get('/fences/summary')).body.some(({ timeout }: { timeout?: number }) => (timeout ?? 0) > 0));
});

test('demo --history reports a hub without history', async (context) => {
  const hub = await openTestHub();
  context.after(hub.close);
  const { code, err } = await runCli('demo', '--history', '--seconds', '0.2', '--hub', hub.origin);
  assert.equal(code, 1);
  assert.match(err, /Cannot feed past hours into the hub: it records no history\. Start it with HUB_HISTORY=true/);
});
