import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { createScene, inHall, send } from '../support/scene.ts';

/** Frame size that every client accepts: a common one rejects longer frames. */
const FRAME_MAX_BYTES = 32_768;
const GO = { userAgent: 'Go-http-client/1.1' };

let hub: TestHub;

before(async () => {
  hub = await openTestHub();
  await createScene(hub);
});
after(() => hub.close());

/** A location of about this many bytes, including multi-byte characters. */
function large(id: string, bytes: number, number: number) {
  return { ...inHall(id, 5, 5), properties: { number, text: 'ä€😀'.repeat(bytes / 9) } };
}

describe('frames', () => {
  test('have at most 32 KiB in a burst of large locations, and none is missing', async () => {
    const plain = await hub.subscribe('location_updates');
    const geojson = await hub.subscribe('location_updates:geojson', {}, GO);
    const locations = Array.from({ length: 600 }, (_, i) => large(`large-${i % 3}`, 1000 + ((i * 997) % 12_000), i));
    const parts = [0, 1, 2, 3].map((part) => locations.slice(part * 150, part * 150 + 150));
    for (const part of parts) await send(hub, ...part);
    await hub.settle();
    for (const { client } of [plain, geojson]) {
      assert.ok(Math.max(...client.frameBytes) <= FRAME_MAX_BYTES, `${Math.max(...client.frameBytes)} bytes`);
      assert.ok(client.frameBytes.length < 400, `${client.frameBytes.length} frames for 600 events`);
    }
    for (const id of ['large-0', 'large-1', 'large-2']) {
      const expected = locations.filter((location) => location.provider_id === id).map(({ properties }) => properties);
      const ofPlain = plain.events.filter((event) => event.provider_id === id);
      const ofGeojson = geojson.events.map(({ features }) => features[0].properties);
      assert.deepEqual(
        ofPlain.map(({ properties }) => properties),
        expected,
      );
      assert.deepEqual(
        ofGeojson.filter((event) => event.provider_id === id).map(({ properties }) => properties),
        expected,
      );
    }
  });

  test('are JSON objects of the protocol, without any other byte', async () => {
    const { client } = await hub.subscribe('location_updates');
    const texts: string[] = [];
    client.socket.on('message', (bytes: Buffer, isBinary: boolean) => {
      assert.equal(isBinary, false);
      texts.push(bytes.toString());
    });
    await send(hub, inHall('plain', 1, 1), inHall('plain', 2, 2));
    await hub.settle();
    const messages = texts.filter((text) => text.includes('"event":"message"'));
    assert.notEqual(messages.length, 0);
    for (const text of messages) {
      assert.equal(text, text.trim());
      assert.deepEqual(Object.keys(JSON.parse(text)), ['event', 'topic', 'subscription_id', 'payload']);
    }
  });
});

describe('subscriptions', () => {
  test('have ids that are positive, unique across connections, and part of messages', async () => {
    const [a, b] = [await hub.socket(), await hub.socket()];
    const recorders = [
      await a.subscribe('location_updates', { provider_id: 'ids' }),
      await a.subscribe('location_updates', { floor: 0 }),
      await b.subscribe('location_updates', { provider_id: 'ids' }),
    ];
    const ids = recorders.map(({ subscriptionId }) => subscriptionId);
    assert.equal(new Set(ids).size, 3);
    for (const id of ids) assert.ok(Number.isInteger(id) && id > 0);
    await send(hub, inHall('ids', 1, 1));
    await hub.settle();
    const idsOf = (client: typeof a) => {
      const frames = client.frames.filter(({ event }) => event === 'message');
      return frames.map(({ subscription_id: id }) => id).sort();
    };
    assert.deepEqual(idsOf(a), ids.slice(0, 2).sort());
    assert.deepEqual(idsOf(b), ids.slice(2));
  });

  test('of a Go client receive messages without id', async () => {
    const recorder = await hub.subscribe('location_updates', { provider_id: 'go' }, GO);
    assert.ok(recorder.subscriptionId > 0);
    await send(hub, inHall('go', 1, 1));
    await recorder.next();
    const messages = recorder.client.frames.filter(({ event }) => event === 'message');
    assert.deepEqual(Object.keys(messages[0] ?? {}), ['event', 'topic', 'payload']);
  });

  test('with equal params are rejected on the same connection only, until the first has ended', async () => {
    const [a, b] = [await hub.socket(), await hub.socket()];
    const subscribe = (params?: object) => ({ event: 'subscribe', topic: 'fence_events', params });
    // Fence events of earlier tests may still arrive.
    const codes = async (client: typeof a, frame: object) =>
      (await client.ask(frame)).filter(({ event }) => event !== 'message').map(({ code, event }) => code ?? event);
    assert.deepEqual(await codes(a, subscribe({ fence_id: ['x', 'y'], token: 'one' })), ['subscribed']);
    assert.deepEqual(await codes(a, subscribe({ fence_id: ['y', 'x'], token: 'two' })), [10002]);
    assert.deepEqual(await codes(a, subscribe({ fence_id: ['x'] })), ['subscribed']);
    assert.deepEqual(await codes(a, subscribe()), ['subscribed']);
    assert.deepEqual(await codes(a, subscribe({})), [10002]);
    assert.deepEqual(await codes(a, { ...subscribe(), topic: 'fence_events:geojson' }), ['subscribed']);
    assert.deepEqual(await codes(b, subscribe({ fence_id: ['x', 'y'] })), ['subscribed']);
    const id = a.frames.find(({ event }) => event === 'subscribed')?.subscription_id;
    assert.deepEqual(
      await codes(b, { event: 'unsubscribe', subscription_id: id }),
      [],
      'another connection may end it',
    );
    assert.deepEqual(await codes(a, { event: 'unsubscribe', subscription_id: id }), ['unsubscribed']);
    assert.deepEqual(await codes(a, subscribe({ fence_id: ['x', 'y'] })), ['subscribed']);
  });

  test('that have ended receive nothing more, and others on the connection continue', async () => {
    const client = await hub.socket();
    const ended = await client.subscribe('location_updates', { provider_id: 'more' });
    const going = await client.subscribe('location_updates', { provider_id: ['more'], floor: 0 });
    await send(hub, inHall('more', 1, 1));
    await hub.settle();
    const answers = await client.ask({ event: 'unsubscribe', subscription_id: ended.subscriptionId });
    assert.deepEqual(answers, [
      { event: 'unsubscribed', topic: 'location_updates', subscription_id: ended.subscriptionId },
    ]);
    await send(hub, inHall('more', 2, 2));
    await hub.settle();
    assert.deepEqual([ended.events.length, going.events.length], [1, 2]);
  });

  test('are the same on all paths of the WebSocket', async () => {
    for (const path of ['/v1/ws/socket', '/v2/ws/socket', '/hub/v1/ws/socket', '/deephub/v2/ws/socket/']) {
      const recorder = await hub.subscribe('location_updates', { provider_id: `path${path}` }, { path });
      await send(hub, inHall(`path${path}`, 1, 1));
      await recorder.next();
    }
  });
});

test('events of a list are in order for each provider, for every subscriber', async () => {
  const recorders = [await hub.subscribe('location_updates'), await hub.subscribe('location_updates', { floor: 0 })];
  const locations = Array.from({ length: 400 }, (_, i) => inHall(`order-${i % 5}`, i / 10, 5, { properties: { i } }));
  for (let start = 0; start < 400; start += 50) {
    const part = locations.slice(start, start + 50);
    if (start % 100 === 0) await send(hub, ...part);
    else {
      recorders[0]?.client.publish('location_updates', ...part);
      await recorders[0]?.client.settle();
    }
  }
  await hub.settle();
  for (const { events } of recorders) {
    const own = events.filter(({ provider_id: id }) => id.startsWith('order-'));
    assert.equal(own.length, 400);
    for (let n = 0; n < 5; n++) {
      const numbers = own.filter(({ provider_id: id }) => id === `order-${n}`).map(({ properties }) => properties.i);
      assert.deepEqual(
        numbers,
        Array.from({ length: 80 }, (_, i) => i * 5 + n),
      );
    }
  }
  assert.deepEqual(hub.logged, []);
});
