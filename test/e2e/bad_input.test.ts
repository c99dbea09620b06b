import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { BAD_BODIES, BAD_LOCATIONS, badText, GOOD_LOCATION, titleOf, ZONES } from '../scenarios/bad_locations.ts';
import { openTestHub, type TestHub, type TestReply } from '../support/running_hub.ts';
import type { SocketClient } from '../support/socket_client.ts';

const BULK_PATHS = ['/providers/locations', '/providers/proximities'];
const ONE_PATHS = ['/providers/bad-input/location', '/providers/bad-input/proximity'];

let hub: TestHub;
let socket: SocketClient;

before(async () => {
  hub = await openTestHub();
  for (const zone of ZONES) assert.equal((await hub.post('/zones', zone)).status, 201);
  socket = await hub.socket();
});
after(() => hub.close());

function assertRefused({ status, body }: TestReply, starts: string, found: string): void {
  assert.equal(status, 400, JSON.stringify(body));
  assert.equal(body.code, 400);
  assert.equal(body.type, 'com.flowcate.http.bad_request');
  assert.ok(body.message.startsWith(starts), `${body.message} does not name ${starts}`);
  assert.ok(body.message.includes(found), `${body.message} does not show ${found}`);
}

async function isKnown(provider: string): Promise<boolean> {
  return (await hub.get(`/providers/${provider}`)).status === 200;
}

describe('the hub rejects a location with', () => {
  for (const [index, row] of BAD_LOCATIONS.entries()) {
    test(titleOf(row), async () => {
      const good = JSON.stringify({ ...GOOD_LOCATION, provider_id: `good-${index}` });
      const bad = badText(row);
      if (row.bulkOnly !== true) {
        assertRefused(await hub.put(ONE_PATHS[0] as string, bad), row.field, row.found);
      }
      for (const method of ['PUT', 'POST']) {
        const reply = await hub.request(method, '/providers/locations', `[${good},${bad}]`);
        assertRefused(reply, `locations[1].${row.field}`, row.found);
      }
      assert.equal(await isKnown(`good-${index}`), false, 'a part of the list was accepted');

      const frame = `{"event":"message","topic":"location_updates","payload":[${bad},${good},${bad}]}`;
      const errors = await socket.ask(frame);
      assert.deepEqual(
        errors.map(({ event, code }) => ({ event, code })),
        [{ event: 'error', code: 10005 }],
      );
      const [first, second] = String(errors[0]?.description).split('; payload[2].');
      assert.ok(first?.startsWith(`payload[0].${row.field}`) && first.includes(row.found), first);
      assert.ok(second?.startsWith(row.field) && second.includes(row.found), second);
      assert.ok(await isKnown(`good-${index}`), 'the valid location was not accepted');
    });
  }
});

describe('the hub rejects a body that is', () => {
  for (const [name, body] of BAD_BODIES) {
    test(name, async () => {
      for (const path of [...BULK_PATHS, ...ONE_PATHS]) {
        const { status, body: error } = await hub.put(path, body);
        assert.equal(status, 400, `${path}: ${JSON.stringify(error)}`);
        assert.match(error.message, /^(body|locations|proximities|position|source)/);
      }
      for (const path of ['/zones', '/fences', '/trackables', '/providers']) {
        const { status, body: error } = await hub.post(path, body);
        assert.equal(status, 400, `${path}: ${JSON.stringify(error)}`);
        assert.match(error.message, /^body: must be/);
      }
    });
  }

  test('an array instead of one location, or the reverse', async () => {
    assertRefused(await hub.put(ONE_PATHS[0] as string, [GOOD_LOCATION]), 'body: must be an object', 'found [{');
    assertRefused(await hub.put(ONE_PATHS[1] as string, []), 'body: must be an object', 'found []');
    for (const path of BULK_PATHS)
      assertRefused(await hub.put(path, GOOD_LOCATION), 'body: must be an array', 'found {');
  });

  test('a location of another provider than the one in the path', async () => {
    const reply = await hub.put('/providers/other/location', GOOD_LOCATION);
    assertRefused(reply, 'provider_id: must be "other"', '"bad-input"');
    assert.equal(await isKnown('other'), false);
  });

  test('a location for a provider without id', async () => {
    const { status } = await hub.put('/providers//location', { ...GOOD_LOCATION, provider_id: '' });
    assert.ok(status === 400 || status === 404, String(status));
  });
});

describe('the WebSocket answers', () => {
  const rows: readonly (readonly [name: string, frame: unknown, code: number])[] = [
    ['a payload that is no array', { event: 'message', topic: 'location_updates', payload: {} }, 10005],
    ['no payload', { event: 'message', topic: 'location_updates' }, 10005],
    ['a payload of null', { event: 'message', topic: 'proximity_updates', payload: null }, 10005],
    [
      'items that are no locations',
      { event: 'message', topic: 'location_updates', payload: [1, null, 'x', []] },
      10005,
    ],
    ['items that are no proximities', { event: 'message', topic: 'proximity_updates', payload: [1, {}] }, 10005],
    ['publishing to a read-only topic', { event: 'message', topic: 'fence_events', payload: [] }, 10004],
    ['an unknown topic', { event: 'message', topic: 'weather', payload: [] }, 10001],
    ['no topic', { event: 'message', payload: [] }, 10001],
    ['an unknown event', { event: 'dance' }, 10000],
    ['no event', {}, 10000],
    ['no JSON', 'location', 10000],
    ['a deep array', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 10000],
    ['an array', [], 10000],
    ['params that are no object', { event: 'message', topic: 'location_updates', payload: [], params: [] }, 10005],
    ['subscribing with params that are no object', { event: 'subscribe', topic: 'fence_events', params: 'x' }, 10002],
  ];
  for (const [name, frame, code] of rows) {
    test(`${name} with ${code}`, async () => {
      const answers = await socket.ask(frame);
      assert.deepEqual(
        answers.map((answer) => [answer.event, answer.code]),
        [['error', code]],
      );
    });
  }

  for (const member of ['position', 'properties', 'floor', 'colour']) {
    test(`deep nesting in ${member} of a location with 10005, or ignores it`, async () => {
      const deep = `${'[{"a":'.repeat(20_000)}1${'}]'.repeat(20_000)}`;
      const location = badText({ set: { [member]: `{"type":"Point","coordinates":${deep}}` }, field: '', found: '' });
      const errors = await socket.ask(`{"event":"message","topic":"location_updates","payload":[${location}]}`);
      assert.deepEqual(
        errors.map(({ code }) => code),
        member === 'colour' ? [] : [10005],
      );
      const { status } = await hub.put('/providers/bad-input/location', location);
      assert.equal(status, member === 'colour' ? 204 : 400);
    });
  }
});

test('the hub still works after all of it, and has no internal error', async () => {
  const events = await socket.subscribe('location_updates', { provider_id: 'fine' });
  assert.equal((await hub.put('/providers/fine/location', { ...GOOD_LOCATION, provider_id: 'fine' })).status, 204);
  socket.publish('location_updates', { ...GOOD_LOCATION, provider_id: 'fine' });
  await hub.settle();
  assert.equal(events.events.length, 2);
  const { received, processed, outdated, rejected } = hub.hub.counts();
  assert.equal(received, processed + outdated + rejected);
  assert.deepEqual(hub.logged, []);
});
