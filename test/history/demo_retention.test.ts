import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCli } from '../cli/run_cli.ts';
import { openTestHub } from '../support/running_hub.ts';

test('demo --history warns of hours that the hub does not retain', async (t) => {
  const hub = await openTestHub({ history: true, history_retention_days: 1 });
  t.after(hub.close);
  const { err } = await runCli('demo', '--history', '26', '--seconds', '0.1', '--hub', hub.origin);
  assert.match(err, /^Warning: the first [12]\.\d of 26 hours will not be in the history/);
});
