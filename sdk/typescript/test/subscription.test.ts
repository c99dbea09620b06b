import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LocationHub, Picture, SubscriptionError, type HubOptions, type Item, type Status } from '../src/client.ts';
import { type Behavior, type FakeHub, openFakeHub } from './fake_hub.ts';

const LOG = '/v2/events?after=newest&limit=1';
const TAG = {
  provider_id: 'tag',
  source: 'hall',
  provider_type: 'uwb',
  position: { type: 'Point', coordinates: [1, 2] },
};

async function open(
  t: TestContext,
  behavior: Behavior,
  options: HubOptions = {},
): Promise<{ fake: FakeHub; hub: LocationHub }> {
  const fake = await openFakeHub(behavior);
  t.after(fake.close);
  return { fake, hub: new LocationHub(fake.url, { random: () => 0, ...options }) };
}

/** Takes a number of items. */
async function take<T>(count: number, items: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) if (taken.push(item) === count) break;
  return taken;
}

const event = (id: string) => ({ id, fence_id: 'dock', event_type: 'region_entry', trackable_id: `of ${id}` });
const message = (cursor: string | undefined, ...payload: object[]) => ({
  event: 'message',
  topic: 'any',
  payload,
  cursor,
});

test('A subscription continues after the last cursor on the next connection', async (t) => {
  let connections = 0;
  const { fake, hub } = await open(t, {
    answer: ({ path }) => (path === LOG ? [200, {}] : [404]),
    framed(_frame, { send, close }) {
      connections++;
      send({ event: 'subscribed' });
      send(message(`c${connections}`, event(`e${connections}`)));
      close(connections === 1 ? 0 : 1001);
    },
  });
  const items = await take(3, hub.subscribe('fence_events', { after: 'c0' }));
  assert.deepEqual(
    fake.frames.slice(0, 3).map(({ params }) => params['after']),
    ['c0', 'c1', 'c2'],
  );
  assert.deepEqual(
    items.map((item) => item.kind === 'events' && item.events.map(({ id }) => id)),
    [['e1'], ['e2'], ['e3']],
  );
});

test('A hub that closes because it restarts, or because the client reads slowly, is connected to at once', async (t) => {
  for (const [code, paused] of [
    [1001, 0],
    [1013, 0],
    [1011, 2],
  ] as const) {
    let pauses = 0;
    const random = () => {
      pauses++;
      return 0;
    };
    const behavior: Behavior = {
      answer: ({ path }) => (path === LOG ? [200, {}] : [404]),
      framed(_frame, { send, close }) {
        const number = fake.frames.length;
        send({ event: 'subscribed' });
        send(message(`c${number}`, event(`e${number}`)));
        if (number < 3) close(code);
      },
    };
    const { fake, hub } = await open(t, behavior, { random });
    await take(3, hub.subscribe('fence_events', { after: 'c0' }));
    const cursors = fake.frames.map(({ params }) => params['after']);
    assert.deepEqual([cursors, pauses], [['c0', 'c1', 'c2'], paused], String(code));
  }
});

test('Without a cursor, the state comes first, and then the events that arrived while it was read', async (t) => {
  const received = Promise.withResolvers<unknown>();
  const { hub } = await open(t, {
    async answer({ path }) {
      if (path === LOG) return [200, {}];
      if (path === '/v2/fences') return [200, ['dock']];
      if (path === '/v2/fences/dock/providers') return [200, [{ id: 'tag' }]];
      await received.promise;
      return [200, [{ id: 'cart' }]];
    },
    framed(_frame, connection) {
      connection.send({ event: 'subscribed' });
      connection.send(message('c1'));
      connection.send(message('c2', event('e1')));
      received.resolve(connection.received());
    },
  });
  const subscription = hub.subscribe('fence_events');
  const items: Item<'fence_events'>[] = await take(3, subscription);
  assert.deepEqual(items[0], {
    kind: 'state',
    state: [
      { fence_id: 'dock', trackable_id: 'cart' },
      { fence_id: 'dock', provider_id: 'tag' },
    ],
    cursor: 'c1',
  });
  const picture = new Picture('fence_events');
  for (const item of items) picture.apply(item);
  assert.deepEqual([...picture.elements.keys()], ['dock cart', 'dock tag', 'dock of e1']);
});

test('A hub without an event log is read again after each interruption', async (t) => {
  let reads = 0;
  const { fake, hub } = await open(t, {
    answer: ({ path }) => (path === '/v2/providers/locations' ? [200, [{ ...TAG, floor: ++reads }]] : [404]),
    framed(_frame, { send, close }) {
      send({ event: 'subscribed' });
      if (reads > 0) send(message(undefined, TAG));
      else setTimeout(() => close(0), 100);
    },
  });
  const statuses: Status[] = [];
  const subscription = hub.subscribe('location_updates', { onStatus: (status) => void statuses.push(status) });
  const items = await take(3, subscription);
  assert.deepEqual(
    items.map(({ kind }) => kind),
    ['state', 'state', 'events'],
  );
  assert.equal(fake.frames[0]?.params['after'], undefined);
  assert.deepEqual(statuses.map(({ status }) => status).slice(0, 3), ['connected', 'disconnected', 'connected']);
});

test('A cursor that the hub does not know leads to the state, as does a hub that replaced it', async (t) => {
  for (const reason of ['cursor_too_old', 'cursor_of_other_hub', 'cursor_unknown']) {
    const { fake, hub } = await open(t, {
      answer: ({ path }) => [200, path === '/v2/zones/summary' ? [{ id: 'hall' }] : {}],
      framed({ params }, { send }) {
        if (params['after'] !== 'newest') return send({ event: 'error', code: 10002, reason, description: 'No' });
        send({ event: 'subscribed' });
        send(message('n1'));
      },
    });
    const [item] = await take(1, hub.subscribe('zone_changes', { after: 'old' }));
    assert.deepEqual(item, { kind: 'state', state: [{ id: 'hall' }], cursor: 'n1' }, reason);
    assert.equal(fake.frames.length, 2);
  }
});

test('A topic without state reports a gap', async (t) => {
  const { hub } = await open(t, {
    answer: () => [404],
    framed: (_frame, { send }) => send({ event: 'subscribed' }),
  });
  assert.deepEqual(await take(1, hub.subscribe('collision_events')), [{ kind: 'gap' }]);
});

test('A slow application is notified, buffers no more than the limit, and misses nothing', async (t) => {
  const all = Array.from({ length: 500 }, (_, i) => `${i + 1}`);
  const { fake, hub } = await open(t, {
    answer: () => [200, {}],
    framed({ params }, { send }) {
      send({ event: 'subscribed' });
      for (const id of all.slice(Number(params['after']))) send(message(id, event(id)));
    },
  });
  const statuses: Status[] = [];
  const lagging = Promise.withResolvers<void>();
  const subscription = hub.subscribe('fence_events', {
    ...{ after: '0', queueMax: 50 },
    onStatus(status) {
      statuses.push(status);
      if (status.status === 'lagging') lagging.resolve();
    },
  });
  await lagging.promise;
  const items = await take(500, subscription);
  assert.deepEqual(
    items.map((item) => item.kind === 'events' && item.events[0]?.id),
    all,
  );
  assert.ok(fake.frames.length > 10, `${fake.frames.length} connections`);
  const most = Math.max(...statuses.map((status) => (status.status === 'lagging' ? status.queued : 0)));
  assert.ok(most > 50 && most <= 52, `${most} events were queued`);
});

test('A subscription whose token has expired continues with another one', async (t) => {
  let number = 1;
  const { fake, hub } = await open(
    t,
    {
      answer: () => [200, {}],
      framed({ params }, { send }) {
        if (params['token'] !== 'token 1') {
          send({ event: 'subscribed' });
          return send(message('c2', event('e2')));
        }
        send({ event: 'subscribed' });
        send(message('c1', event('e1')));
        send({ event: 'error', code: 10006, description: 'The token has expired' });
      },
    },
    { token: { token: async () => `token ${number}`, refused: () => void number++ } },
  );
  await take(2, hub.subscribe('fence_events', { after: 'c0' }));
  assert.deepEqual(
    fake.frames.map(({ params }) => [params['token'], params['after']]),
    [
      ['token 1', 'c0'],
      ['token 2', 'c1'],
    ],
  );
});

test('A subscription waits for a hub that does not run yet', async (t) => {
  const gone = await openFakeHub({ answer: () => [404] });
  await gone.close();
  const waiting = Promise.withResolvers<void>();
  const statuses: Status[] = [];
  const subscription = new LocationHub(gone.url, { random: () => 0 }).subscribe('location_updates', {
    onStatus(status) {
      if (statuses.push(status) === 2) waiting.resolve();
    },
  });
  const first = take(1, subscription);
  await waiting.promise;
  const framed: Behavior['framed'] = (_frame, { send }) => send({ event: 'subscribed' });
  const started = await openFakeHub({ answer: () => [200, [TAG]], framed }, Number(new URL(gone.url).port));
  t.after(started.close);
  assert.deepEqual(await first, [{ kind: 'state', state: [TAG] }]);
});

test('A refused subscription fails with the code and text of the hub', async (t) => {
  for (const code of [10001, 10002, 10004]) {
    const { hub } = await open(t, {
      answer: () => [404],
      framed: (_frame, { send }) => send({ event: 'error', code, description: 'No' }),
    });
    await assert.rejects(take(1, hub.subscribe('location_updates')), (error) => {
      return error instanceof SubscriptionError && error.code === code && error.message === 'No';
    });
  }
});

test('A closed subscription delivers what is queued, and ends', async (t) => {
  const { hub } = await open(t, {
    answer: () => [200, {}],
    framed(_frame, { send }) {
      send({ event: 'subscribed' });
      for (let i = 1; i <= 3; i++) send(message(`c${i}`, event(`e${i}`)));
    },
  });
  const subscription = hub.subscribe('fence_events', { after: 'c0' });
  let count = 0;
  for await (const item of subscription) {
    if (item.kind === 'events') count++;
    if (count === 3) subscription.close();
  }
  assert.equal(count, 3);
});
