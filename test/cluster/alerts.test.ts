import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import type { Recorder } from '../support/socket_client.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats();
const { skip } = nats;

const TRUCKS = ['0b680db2-b39b-45be-be77-40d7d2296cb4', '3f7b6a52-8d0e-4f0c-9a77-1c5f0e6b2d42'] as const;

/** Change after which the alert of a truck is in a state. */
function record(changes: Recorder, truck: number, state: string): Promise<unknown> {
  return changes.next(({ object }) => object.trackable_id === TRUCKS[truck] && object.state === state, 20_000);
}

async function drive(hub: TestHub, truck: number, x: number): Promise<void> {
  const position = { type: 'Point', coordinates: [x, 5] };
  const location = { position, source: 'hall', provider_type: 'uwb', crs: 'local' };
  assert.equal((await hub.put(`/providers/truck-${truck}/location`, location)).status, 204);
}

/** The hub that runs the collision stage and watches, and the other one. */
async function watcherOf(a: TestHub, b: TestHub): Promise<readonly [watcher: TestHub, other: TestHub]> {
  const { members } = (await a.get('/health/system')).body.cluster;
  const { name } = members.find(({ owns_collisions: owns }: { owns_collisions: boolean }) => owns);
  return name === 'a' ? [a, b] : [b, a];
}

test('One hub evaluates alerts for the cluster, each hub accepts acknowledgements, and a successor continues', {
  skip,
}, async (t) => {
  const shared = { cluster_servers: nats.servers.addresses.join(','), cluster_replicas: 1, cluster_name: 'alerts' };
  const open = (name: string): Promise<TestHub> => {
    return openTestHub({ ...shared, cluster_hub_name: name, cluster_journal_max_size: 16 }, { isAlone: true });
  };
  const [a, b] = [await open('a'), await open('b')];
  t.after(() => Promise.all([a.close(), b.close()]));
  await a.post('/zones', HALL);
  await a.post('/fences', square());
  for (const [i, id] of TRUCKS.entries()) {
    await a.post('/trackables', { id, type: 'omlox', name: `Truck ${i}`, location_providers: [`truck-${i}`] });
  }
  const [watcher, other] = await watcherOf(a, b);
  const atWatcher = await watcher.subscribe('alert_changes');
  const atOther = await other.subscribe('alert_changes');
  // Created at the hub that does not watch.
  assert.equal((await other.post('/alerts/rules', { name: 'In the dock', kind: 'entry' })).status, 201);
  await other.settle();
  await watcher.settle();

  for (const truck of [0, 1]) await drive(other, truck, 5);
  for (const changes of [atWatcher, atOther]) for (const truck of [0, 1]) await record(changes, truck, 'raised');
  const alerts = (await other.get('/alerts')).body as { id: string; rule_id: string; trackable_id: string }[];
  assert.equal(alerts.length, 2);
  const first = alerts.find(({ trackable_id: id }) => id === TRUCKS[0]);
  // The positions of the trucks may be at different hubs.
  const near = { name: 'Close', kind: 'together', trackable_ids: TRUCKS, distance: 1 };
  assert.equal((await other.post('/alerts/rules', near)).status, 201);
  const { object: pair } = await atWatcher.next(({ object }) => object.kind === 'together', 20_000);
  assert.deepEqual([pair.trackable_id, pair.other_trackable_id], TRUCKS);

  const acknowledged = await other.post(`/alerts/${first?.id}/acknowledge`);
  assert.deepEqual([acknowledged.status, acknowledged.body.state], [200, 'acknowledged']);
  await record(atWatcher, 0, 'acknowledged');

  const second = alerts.find(({ trackable_id: id }) => id === TRUCKS[1]);
  const ids = { ids: [second?.id] };
  assert.equal((await other.post('/alerts/comment', { ...ids, text: 'On my way' })).status, 204);
  assert.equal((await other.post('/alerts/assign', { ...ids, assignee: 'Anna' })).status, 204);
  assert.equal(
    (await other.post('/alerts/snoozes', { rule_id: second?.rule_id, until: '2100-01-01T00:00:00Z' })).status,
    201,
  );
  const { object: handled } = await atWatcher.next(
    ({ object: { id, snoozed_until: until, assignee } }) =>
      id === second?.id && until !== undefined && assignee === 'Anna',
    20_000,
  );
  assert.deepEqual(
    handled.comments.map(({ text }: { text: string }) => text),
    ['On my way'],
  );

  await watcher.close();
  await drive(other, 0, 50);
  await record(atOther, 0, 'cleared');
  assert.equal((await other.post('/alerts/clear', { all: true })).status, 204);
  await record(atOther, 1, 'cleared');
  await drive(other, 0, 5);
  const open2 = await atOther.next(
    ({ object }) => object.kind === 'entry' && object.trackable_id === TRUCKS[0] && object.id !== first?.id,
    20_000,
  );
  assert.equal(open2.object.state, 'raised');
  assert.equal((await other.get('/alerts')).body.length, 4);
});
