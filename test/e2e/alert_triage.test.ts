import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Alert } from '../../src/model/alert.ts';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const FENCE = square().id;
const TRUCKS = ['0b680db2-b39b-45be-be77-40d7d2296cb4', '3f7b6a52-8d0e-4f0c-9a77-1c5f0e6b2d42'] as const;
const UNTIL = '2100-01-01T00:00:00.000Z';

async function drive(hub: TestHub, truck: number, x: number): Promise<void> {
  const position = { type: 'Point', coordinates: [x, 5] };
  await hub.put(`/providers/truck-${truck}/location`, { position, source: 'hall', provider_type: 'uwb', crs: 'local' });
}

/** A hall with a fence, two trucks outside of it, and a rule on entries. Returns the id of the rule. */
async function furnish(hub: TestHub): Promise<string> {
  await hub.post('/zones', HALL);
  await hub.post('/fences', square({ name: 'Dock' }));
  for (const [i, id] of TRUCKS.entries()) {
    await hub.post('/trackables', { id, type: 'omlox', name: `Truck ${i}`, location_providers: [`truck-${i}`] });
    await drive(hub, i, 50);
  }
  const { body: rule } = await hub.post('/alerts/rules', { name: 'In the dock', kind: 'entry' });
  await hub.settle();
  return rule.id;
}

test('alerts are assigned, commented on and snoozed, with their authors in the audit log, and after a restart', async (t) => {
  const folder = temporaryFolder();
  const first = await openTestHub({}, { folder });
  t.after(() => first.close());
  const rule = await furnish(first);
  const changes = await first.subscribe('alert_changes');
  await drive(first, 0, 5);
  const { object: alert } = await changes.next(({ event_type: type }) => type === 'create');

  const ids = [alert.id];
  assert.equal((await first.post('/alerts/assign', { ids, assignee: 'Anna' })).status, 204);
  assert.equal((await first.post('/alerts/comment', { ids, text: 'On my way', author: 'Anna' })).status, 204);
  const commented = await changes.next(({ object: { comments } }) => comments?.length === 1);
  assert.deepEqual([commented.object.assignee, commented.object.comments[0].text], ['Anna', 'On my way']);

  // The snooze applies to alerts of the group that are raised later, too.
  const group = { rule_id: rule, fence_id: FENCE };
  const { status, body: snooze } = await first.post('/alerts/snoozes', {
    ...group,
    until: '2099-01-01T01:00:00+01:00',
  });
  assert.deepEqual([status, snooze.name, snooze.until], [201, 'In the dock', '2099-01-01T00:00:00.000Z']);
  await changes.next(({ object: { snoozed_until: until } }) => until === snooze.until);
  const { body: extended } = await first.post('/alerts/snoozes', { ...group, until: UNTIL });
  assert.equal(extended.id, snooze.id, 'the snooze of the same group is replaced');
  await drive(first, 1, 5);
  const { object: later } = await changes.next(
    ({ event_type: type, object: { id } }) => type === 'create' && id !== alert.id,
  );
  assert.deepEqual([later.state, later.snoozed_until], ['raised', UNTIL]);

  for (const [path, body, message] of [
    ['/alerts/assign', { assignee: 'Anna' }, /^ids: are required unless all is true/],
    ['/alerts/assign', { ids, assignee: '' }, /^assignee: /],
    ['/alerts/comment', { ids, text: '' }, /^text: /],
    ['/alerts/comment', { ids, text: 'x'.repeat(501) }, /^text: /],
    ['/alerts/snoozes', { ...group, until: 'soon' }, /^until: must be an RFC 3339 date and time, found "soon"/],
    ['/alerts/snoozes', { ...group, until: '2020-01-01T00:00:00Z' }, /^until: must be in the future, found "2020-/],
  ] as const) {
    const refused = await first.post(path, body);
    assert.equal(refused.status, 400, path);
    assert.match(refused.body.message, message);
  }
  assert.equal((await first.post('/alerts/snoozes', { rule_id: 'none', until: UNTIL })).status, 404);
  assert.equal((await first.post('/alerts/comment', { ids: ['none'], text: 'x' })).status, 404);
  for (let i = 0; i < 19; i++) await first.post('/alerts/comment', { ids, text: `Note ${i}` });
  const tooMany = await first.post('/alerts/comment', { ids, text: 'One too many' });
  assert.deepEqual([tooMany.status, tooMany.body.params?.limit], [400, 20]);

  const { entries } = (await first.get('/audit?kind=alert')).body;
  assert.deepEqual(
    entries.slice(0, 2).map(({ id, action, patch }: { id: string; action: string; patch: { path: string }[] }) => {
      return [id, action, patch.map(({ path }) => path)];
    }),
    [
      [alert.id, 'update', ['/assignee']],
      [alert.id, 'update', ['/comments']],
    ],
  );
  const snoozes = (await first.get('/audit?kind=alert_snooze')).body.entries;
  assert.deepEqual(
    snoozes.map(({ action }: { action: string }) => action),
    ['create', 'update'],
  );
  await first.close();

  const second = await openTestHub({}, { folder });
  t.after(() => second.close());
  const stored = (await second.get('/alerts')).body as Alert[];
  assert.deepEqual(
    stored.map(({ assignee, comments, snoozed_until: until }) => [assignee, comments?.length, until]).toReversed(),
    [
      ['Anna', 20, UNTIL],
      [undefined, undefined, UNTIL],
    ],
  );
  assert.equal((await second.post('/alerts/assign', { ids })).status, 204);
  assert.equal((await second.delete(`/alerts/snoozes/${snooze.id}`)).status, 204);
  const { assignee, snoozed_until: until } = (await second.get(`/alerts/${alert.id}`)).body;
  assert.deepEqual([assignee, until], [undefined, undefined]);
});

test('the preview of a rule counts how often it would have been triggered', async (t) => {
  const hub = await openTestHub();
  t.after(() => hub.close());
  await furnish(hub);
  const events = await hub.subscribe('fence_events');
  for (const x of [5, 50, 5]) {
    const type = x === 5 ? 'region_entry' : 'region_exit';
    const published = events.next(({ event_type: each, trackable_id: id }) => each === type && id === TRUCKS[0]);
    await drive(hub, 0, x);
    await published;
    await hub.settle();
  }
  const rateOf = async (rule: object): Promise<number | undefined> => {
    const { status, body } = await hub.post('/alerts/rules/preview', { name: 'Rule', ...rule });
    assert.equal(status, 200);
    return body.rate?.times;
  };
  assert.equal(await rateOf({ kind: 'entry', fence_ids: [FENCE] }), 2);
  assert.equal(await rateOf({ kind: 'exit' }), 1);
  assert.equal(await rateOf({ kind: 'entry', trackable_ids: [TRUCKS[1]] }), 0);
  assert.equal(await rateOf({ kind: 'silent', longer_than: 1000 }), undefined);
});
