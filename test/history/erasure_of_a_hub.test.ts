import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEntries } from '../../src/model/audit.ts';
import { runCli, runCliIn } from '../cli/run_cli.ts';
import { openTestHub } from '../support/running_hub.ts';
import { ANNA, BERND, walk } from './walk.ts';

const SPAN = 'from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z';

test('A hub erases the history of a trackable with all locations accepted before, and audits it', async (t) => {
  const hub = await openTestHub({ history: true }, { isAlone: true });
  t.after(hub.close);
  await walk(hub, 10);
  const { status, body } = await hub.delete(`/trackables/${ANNA}/history`);
  assert.equal(status, 200);
  assert.equal(body.motions, 10);
  assert.ok(body.fence_events > 0 && body.collision_events > 0, JSON.stringify(body));
  assert.deepEqual([body.damaged_files, body.locations], [0, 0]);
  assert.deepEqual((await hub.get(`/trackables/${ANNA}/history?${SPAN}`)).body.points, []);
  assert.equal((await hub.get(`/providers/a/history?${SPAN}`)).body.points.length, 10);
  const events = await hub.get(`/history/events?${SPAN}`);
  assert.ok(events.body.events.length > 0);
  assert.ok(!events.text.includes(ANNA));
  const erased = await hub.delete('/providers/a/history?to=2100-01-01T00:00:00Z');
  assert.deepEqual([erased.body.locations, erased.body.to], [10, '2100-01-01T00:00:00.000Z']);
  const { entries } = (await hub.get('/audit?kind=erasure')).body as AuditEntries;
  assert.deepEqual(
    entries.map(({ id, action, erasure }) => [id, action, erasure]),
    [
      [ANNA, 'delete', { of: 'trackable' }],
      ['a', 'delete', { of: 'provider', to: '2100-01-01T00:00:00.000Z' }],
    ],
  );
});

test('A hub rejects an erasure of an unknown object, and one of an empty span', async (t) => {
  const hub = await openTestHub({ history: true }, { isAlone: true });
  t.after(hub.close);
  await walk(hub, 1);
  assert.equal((await hub.delete('/providers/nothing/history')).status, 404);
  const { status, body } = await hub.delete('/providers/a/history?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z');
  assert.deepEqual([status, body.reason], [400, 'not_before']);
  assert.equal((await hub.get(`/providers/a/history?${SPAN}`)).body.points.length, 1);
});

test('The command erase erases a trackable with its providers, once that is confirmed', async (t) => {
  const hub = await openTestHub({ history: true }, { isAlone: true });
  t.after(hub.close);
  await walk(hub, 3);
  const args = ['erase', 'trackable', ANNA, '--providers', '--hub', hub.origin];
  const refused = await runCli(...args);
  assert.match(refused.err, /--yes/);
  assert.equal((await hub.get(`/providers/a/history?${SPAN}`)).body.points.length, 3);
  const { out, err, code } = await runCli(...args, '--yes');
  assert.equal(code, 0, err);
  await hub.delete(`/trackables/${BERND}/history`);
  assert.match((await runCliIn(hub.folder, 'history', 'info')).out, /^motions: nothing$/m);
  assert.match(out, new RegExp(`^${ANNA}: erased 0 locations, 3 motions, .*\na: erased 3 locations, `));
});
