import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { READER } from '../scenarios/bad_locations.ts';
import { HALL } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import type { SocketClient } from '../support/socket_client.ts';
import { publicForm } from '../support/time_sent.ts';

type Values = readonly (Readonly<Record<string, unknown>> & { readonly provider_id: string })[];
/** A way to send locations or proximities to the hub. It resolves when the hub has processed them. */
type Way = readonly [name: string, send: (kind: 'location' | 'proximity', values: Values) => Promise<void>];

let hub: TestHub;
const sockets = new Map<string, SocketClient>();

const WAYS: readonly Way[] = [
  ['PUT of one', (kind, values) => one(hub.base, kind, values)],
  ['PUT of one to v1', (kind, values) => one(`${hub.origin}/hub/v1`, kind, values)],
  ['PUT of a list', (kind, values) => bulk('PUT', hub.base, kind, values)],
  ['POST of a list', (kind, values) => bulk('POST', `${hub.origin}/v1`, kind, values)],
  ['PUT of a list under /deephub', (kind, values) => bulk('PUT', `${hub.origin}/deephub/v2`, kind, values)],
  ['WebSocket v2', (kind, values) => publish('/hub/v2/ws/socket', kind, values)],
  ['WebSocket v1', (kind, values) => publish('/v1/ws/socket', kind, values)],
];

async function one(base: string, kind: 'location' | 'proximity', values: Values): Promise<void> {
  for (const value of values) {
    const { provider_id: id, ...rest } = value;
    const { status, text } = await hub.put(`${base}/providers/${id}/${kind}`, rest);
    assert.equal(status, 204, text);
    assert.equal(text, '');
  }
}

async function bulk(method: string, base: string, kind: 'location' | 'proximity', values: Values): Promise<void> {
  const name = kind === 'location' ? 'locations' : 'proximities';
  const { status, text } = await hub.request(method, `${base}/providers/${name}`, values);
  assert.equal(status, 204, text);
}

async function publish(path: string, kind: 'location' | 'proximity', values: Values): Promise<void> {
  const socket = sockets.get(path) ?? (await hub.socket({ path }));
  sockets.set(path, socket);
  const answers = await socket.ask({ event: 'message', topic: `${kind}_updates`, payload: values });
  assert.deepEqual(answers, []);
}

before(async () => {
  hub = await openTestHub();
  for (const zone of [HALL, { ...READER, radius: 3, floor: 2, foreign_id: 'door' }]) {
    assert.equal((await hub.post('/zones', zone)).status, 201);
  }
});
after(() => hub.close());

function at(id: string, second: number, more: object = {}) {
  return {
    provider_id: id,
    position: { type: 'Point', coordinates: [9, 50 + second / 1000] },
    provider_type: 'uwb',
    crs: 'EPSG:4326',
    source: 'here',
    timestamp_generated: new Date(Date.parse('2026-03-01T12:00:00Z') + second * 1000).toISOString(),
    ...more,
  };
}

async function locationOf(id: string) {
  const { status, body } = await hub.get(`/providers/${id}/location`);
  assert.equal(status, 200);
  return body;
}

describe('a location', () => {
  for (const [index, [name, send]] of WAYS.entries()) {
    const id = `way-${index}`;
    test(`by ${name} creates its provider once, is returned, and is published`, async () => {
      const changes = await hub.subscribe('provider_changes', { id });
      const updates = await hub.subscribe('location_updates', { provider_id: id });
      await send('location', [at(id, 1), at(id, 2, { accuracy: 0.5, properties: { a: 1 } })]);
      const expected = {
        ...at(id, 2, { accuracy: 0.5, properties: { a: 1 } }),
        trackables: [],
        floor: 0,
        elevation_ref: 'floor',
      };
      const { speed, course, ...served } = await locationOf(id);
      assert.deepEqual(served, expected);
      assert.ok(speed > 111 && speed < 111.5 && course === 0, `${speed} ${course}`);
      await hub.settle();
      assert.deepEqual(publicForm(updates.events[1]), { ...served, speed, course });
      assert.equal(updates.events.length, 2);
      assert.deepEqual((await hub.get(`/providers/${id}`)).body, { id, type: 'uwb' });
      const { timestamp, ...change } = await changes.next();
      assert.deepEqual(change, { event_type: 'create', id, object: { id, type: 'uwb' } });
      assert.ok(Math.abs(Date.now() - Date.parse(timestamp)) < 60_000, timestamp);
      assert.equal(changes.events.length, 1);
    });

    test(`by ${name} that is older than the last one has no effect`, async () => {
      const updates = await hub.subscribe('location_updates', { provider_id: id });
      const before = hub.hub.counts();
      await send('location', [at(id, 9), at(id, 8), at(id, 9, { floor: 4 })]);
      await hub.settle();
      assert.equal((await locationOf(id)).floor, 4);
      assert.deepEqual(
        updates.events.map(({ timestamp_generated: time, floor }) => [time, floor]),
        [
          [at(id, 9).timestamp_generated, 0],
          [at(id, 9).timestamp_generated, 4],
        ],
      );
      const counts = hub.hub.counts();
      assert.equal(counts.outdated, before.outdated + 1);
      assert.equal(counts.processed, before.processed + 2);
      assert.equal(counts.received, counts.processed + counts.outdated + counts.rejected);
    });

    test(`by ${name} may leave out time, source and crs`, async () => {
      const local = { position: { type: 'Point', coordinates: [50, 50] }, provider_type: 'uwb', source: 'hall' };
      const earliest = Date.now();
      await send('location', [{ provider_id: `${id}-local`, ...local }]);
      const { timestamp_generated: time, position, crs } = await locationOf(`${id}-local`);
      assert.ok(Date.parse(time) >= earliest && Date.parse(time) <= Date.now(), time);
      assert.equal(crs, 'EPSG:4326');
      assert.ok(Math.abs(position.coordinates[0] - 9.0006974) < 1e-6, position.coordinates);
      await send('location', [at(`${id}-gps`, 1, { source: undefined })]);
      assert.equal((await locationOf(`${id}-gps`)).source, `${id}-gps`);
    });
  }

  test('from a clock ahead does not block later ones', async () => {
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    await bulk('PUT', hub.base, 'location', [at('ahead', 0, { timestamp_generated: ahead })]);
    await bulk('PUT', hub.base, 'location', [
      at('ahead', 0, { timestamp_generated: new Date().toISOString(), floor: 7 }),
    ]);
    assert.equal((await locationOf('ahead')).floor, 7);
  });

  test('of 1970-01-01T00:00:00Z is valid', async () => {
    await one(hub.base, 'location', [at('old', 0, { timestamp_generated: '1970-01-01T00:00:00Z' })]);
    assert.equal((await locationOf('old')).timestamp_generated, '1970-01-01T00:00:00Z');
  });

  test('of an unknown provider that arrives many times at once creates it once', async () => {
    const changes = await hub.subscribe('provider_changes', { id: 'crowd' });
    await Promise.all(Array.from({ length: 40 }, (_, i) => one(hub.base, 'location', [at('crowd', i)])));
    await hub.settle();
    assert.deepEqual(
      changes.events.map(({ event_type: type }) => type),
      ['create'],
    );
    assert.equal((await locationOf('crowd')).timestamp_generated, at('', 39).timestamp_generated);
  });

  test('of another type leaves the type of its provider unchanged', async () => {
    await one(hub.base, 'location', [at('typed', 1), at('typed', 2, { provider_type: 'gps' })]);
    assert.equal((await hub.get('/providers/typed')).body.type, 'uwb');
    assert.equal((await locationOf('typed')).provider_type, 'gps');
  });

  test('creates a deleted provider again', async () => {
    const changes = await hub.subscribe('provider_changes', { id: 'again' });
    await one(hub.base, 'location', [at('again', 5)]);
    assert.equal((await hub.delete('/providers/again')).status, 204);
    assert.equal((await hub.get('/providers/again/location')).status, 404);
    await one(hub.base, 'location', [at('again', 1)]);
    assert.equal((await locationOf('again')).timestamp_generated, at('', 1).timestamp_generated);
    assert.deepEqual(
      changes.events.map(({ event_type: type }) => type),
      ['create', 'delete', 'create'],
    );
  });

  test('is returned with any id, source and properties that it was sent with', async () => {
    const anyName = fc.oneof(fc.string(), fc.constantFrom('constructor', 'toJSON', 'toString', 'then', 'length', ''));
    const anyProperties = fc.dictionary(anyName, fc.jsonValue({ maxDepth: 3 }));
    const anyId = fc.string({ unit: 'grapheme', minLength: 1 });
    const socket = await hub.subscribe('location_updates');
    await fc.assert(
      fc.asyncProperty(anyId, anyId, anyProperties, async (id, source, properties) => {
        const sent = at(id, 1, { source, properties, timestamp_generated: new Date().toISOString() });
        await bulk('PUT', hub.base, 'location', [sent]);
        const served = JSON.parse((await hub.get(`/providers/${encodeURIComponent(id)}/location`)).text);
        assert.deepEqual([served.provider_id, served.source], [id, source]);
        assert.equal(JSON.stringify(served.properties), JSON.stringify(JSON.parse(JSON.stringify(properties))));
        await hub.settle();
        assert.deepEqual(socket.events.at(-1).properties, served.properties);
      }),
      { numRuns: 60, seed: 5, examples: [['a', 'b', { constructor: 1, toJSON: 1 }]] },
    );
  });
});

describe('a proximity', () => {
  for (const [index, [name, send]] of WAYS.entries()) {
    const id = `card-${index}`;
    test(`by ${name} is a location at its zone, and is published as received`, async () => {
      const raw = await hub.subscribe('proximity_updates', { provider_id: id });
      const updates = await hub.subscribe('location_updates', { provider_id: id });
      const changes = await hub.subscribe('provider_changes', { id });
      const sent = {
        provider_id: id,
        provider_type: 'rfid',
        source: 'door',
        timestamp_generated: '2026-03-01T12:00:00Z',
      };
      await send('proximity', [sent, { ...sent, accuracy: 1.5, source: READER.id, properties: { battery: 7 } }]);
      const { position, accuracy, floor, source, crs, properties } = await locationOf(id);
      assert.deepEqual(
        { position, floor, source, crs },
        { position: READER.position, floor: 2, source: READER.id, crs: 'EPSG:4326' },
      );
      assert.deepEqual({ accuracy, properties }, { accuracy: 1.5, properties: { battery: 7 } });
      await hub.settle();
      assert.deepEqual(raw.events.map(publicForm), [
        sent,
        { ...sent, accuracy: 1.5, source: READER.id, properties: { battery: 7 } },
      ]);
      assert.deepEqual(
        updates.events.map((update) => [update.source, update.accuracy]),
        [
          ['door', 3],
          [READER.id, 1.5],
        ],
      );
      await changes.next(({ event_type: type, object }) => type === 'create' && object.type === 'rfid');
      assert.equal(changes.events.length, 1);
    });
  }
});

test('the hub has no internal error', () => assert.deepEqual(hub.logged, []));
