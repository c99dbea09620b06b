import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Broker, whyNo } from '../mqtt/brokers.ts';
import { connected } from '../mqtt/connected_hub.ts';
import { TestMqttClient } from '../mqtt/mqtt_client.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { openWebhookServer } from '../support/webhook_server.ts';

const CART = '0b680db2-b39b-45be-be77-40d7d2296cb4';
const [OUTSIDE, INSIDE] = [8.01, 8] as const;
/** Latitudes inside and outside have digits that occur in no other number. */
const SECRET = '50.0000271';
const TOPICS = [
  'location_updates',
  'trackable_motions',
  'proximity_updates',
  'fence_events',
  'collision_events',
] as const;
const noBroker = await whyNo('mosquitto');

const at = (lon: number, lat: number, provider = 'tag') => ({
  ...{ provider_id: provider, provider_type: 'uwb', source: 'somewhere', crs: 'EPSG:4326', accuracy: 0.1 },
  position: { type: 'Point', coordinates: [lon, lat] },
});

/** A trackable with two tags, a room, and an RFID reader in the room. Returns the id of the room. */
async function furnish(hub: TestHub): Promise<string> {
  const room = { name: 'Room', radius: 100, region: { type: 'Point', coordinates: [INSIDE, 50] }, untracked: true };
  const created = await hub.post('/fences', room);
  assert.deepEqual([created.status, created.body.untracked], [201, true]);
  const position = { type: 'Point', coordinates: [INSIDE, Number(SECRET)] };
  assert.equal((await hub.post('/zones', { type: 'rfid', foreign_id: 'reader', position, radius: 2 })).status, 201);
  const cart = { id: CART, type: 'omlox', radius: 1, location_providers: ['tag', 'card'], filter: { kind: 'cv' } };
  assert.equal((await hub.post('/trackables', cart)).status, 201);
  return created.body.id;
}

/** Sends locations in the room by all ways in, between two outside. */
async function visit(hub: TestHub): Promise<void> {
  assert.equal((await hub.put('/providers/locations', [at(OUTSIDE, 50)])).status, 204);
  const inside = at(INSIDE, Number(SECRET));
  assert.equal((await hub.put('/providers/locations', [inside, inside])).status, 204);
  const proximity = { provider_id: 'card', provider_type: 'rfid', source: 'reader' };
  assert.equal((await hub.put('/providers/proximities', [proximity])).status, 204);
  const socket = await hub.socket();
  socket.publish('location_updates', inside);
  await socket.settle();
  await hub.settle();
}

test('A position in an untracked fence leaves the hub on no way, and is recorded nowhere', async (t) => {
  const target = await openWebhookServer();
  t.after(() => target.close());
  const broker = noBroker === undefined ? await Broker.start('mosquitto') : undefined;
  t.after(() => broker?.close());
  const mqtt = broker && (await TestMqttClient.open(broker.port));
  t.after(() => mqtt?.close());
  await mqtt?.subscribe('#');
  const hub = await openTestHub({
    ...{ history: true, sink_allowed_hosts: '["*", "127.0.0.1"]' },
    ...(broker && { mqtt_address: '127.0.0.1', mqtt_port: broker.port }),
  });
  t.after(hub.close);
  if (broker !== undefined) await connected(hub);
  const room = await furnish(hub);
  const sink = { name: 'all', type: 'webhook', url: target.url, topics: TOPICS };
  const made = await hub.post('/sinks', sink);
  assert.equal(made.status, 201, made.text);
  const subscribed = await Promise.all(TOPICS.map((topic) => hub.subscribe(topic)));

  await visit(hub);
  const paths = [
    ...['/providers/locations', '/providers/tag/location', '/providers/card/location', '/trackables/motions'],
    ...[`/trackables/${CART}/motion`, `/trackables/${CART}/location`, `/trackables/${CART}/locations`],
    ...[`/trackables/${CART}/forecast`, `/trackables/${CART}/fences`, `/fences/${room}/providers`],
    ...[`/fences/${room}/trackables`, '/search?kind=trackable&near=8,50', '/search?kind=provider&near=8,50'],
  ];
  for (const path of paths) {
    const { status, text } = await hub.get(path);
    assert.ok(status === 200 || status === 404, `${path}: ${status} ${text}`);
    assert.doesNotMatch(text, /50\.00002|coordinates/, path);
  }

  // The locations outside arrive after all others, on every way out.
  assert.equal((await hub.put('/providers/locations', [at(OUTSIDE, 50), at(OUTSIDE, 50, 'card')])).status, 204);
  await hub.settle();
  const received = subscribed.map(({ events }) => JSON.stringify(events));
  assert.match(received[0] ?? '', /"card"/);
  for (const [i, text] of received.entries()) assert.doesNotMatch(text, /50\.00002/, TOPICS[i]);
  assert.equal(subscribed[2]?.events.length, 0, 'no proximity');
  await target.until(4);
  for (const { body } of target.requests) assert.doesNotMatch(body, /50\.00002|proximity/);
  if (mqtt !== undefined) {
    await mqtt.next(({ topic, payload }) => topic.includes('location') && JSON.stringify(payload).includes('"card"'));
    const moving = mqtt.received.filter(({ topic }) => !topic.includes('zone_changes'));
    for (const { topic, payload } of moving) assert.doesNotMatch(JSON.stringify(payload), /50\.00002/, topic);
  }
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const to = new Date(Date.now() + 60_000).toISOString();
  for (const kind of ['provider', 'trackable']) {
    const { status, text } = await hub.get(`/history/tracks?kind=${kind}&from=${from}&to=${to}`);
    assert.equal(status, 200, text);
    assert.match(text, /8\.01/, kind);
    assert.doesNotMatch(text, /50\.00002/, kind);
  }
  const events = await hub.get('/events?limit=1000');
  assert.equal(events.status, 200, events.text);
  const topics = (events.body as unknown as { events: { topic: string }[] }).events.map(({ topic }) => topic);
  assert.deepEqual(
    [...new Set(topics)].filter((topic) => !topic.endsWith('_changes')),
    [],
  );
});

test('A proximity zone that moves out of an untracked fence is published again, and a line cannot be untracked', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  const room = await furnish(hub);
  const proximities = await hub.subscribe('proximity_updates');
  const seen = { provider_id: 'card', provider_type: 'rfid', source: 'reader' };
  const send = async () => {
    assert.equal((await hub.put('/providers/proximities', [seen])).status, 204);
    await hub.settle();
    return proximities.events.length;
  };
  assert.equal(await send(), 0);
  const [reader] = (await hub.get('/zones/summary')).body as unknown as [{ id: string; position: object }];
  const moved = { ...reader, position: { type: 'Point', coordinates: [OUTSIDE, 50] } };
  assert.equal((await hub.put(`/zones/${reader.id}`, moved)).status, 204);
  assert.equal(await send(), 1);
  assert.equal((await hub.put(`/zones/${reader.id}`, reader)).status, 204);
  assert.equal(await send(), 1);
  assert.equal((await hub.delete(`/fences/${room}`)).status, 204);
  assert.equal(await send(), 2);

  const line = {
    region: {
      type: 'LineString',
      coordinates: [
        [8, 50],
        [8, 51],
      ],
    },
    untracked: true,
  };
  const { status, text } = await hub.post('/fences', line);
  assert.equal(status, 400);
  assert.match(text, /untracked: must not be true for a line, which has no inside, found true/);
});
