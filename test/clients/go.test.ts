import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { whileAuthorized } from '../auth/authorized_hub.ts';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import type { Event } from '../support/socket_client.ts';
import { buildGoProgram, goIsMissing, runGo } from './go_program.ts';

/**
 * Tests a Go program, with Go's own HTTP client and the WebSocket package of the public Go client, against a running
 * hub. It decodes every response and event into structs, as that client does.
 */

const CARTS = ['0b680db2-b39b-45be-be77-40d7d2296cb4', '1b680db2-b39b-45be-be77-40d7d2296cb4'];
const FLIGHT = 10;

const inHall = (id: string, x: number, more: object = {}) => ({
  position: { type: 'Point', coordinates: [x, 5] },
  source: 'hall',
  provider_type: 'uwb',
  provider_id: id,
  ...more,
});

const lines = (events: readonly object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');

describe('a client in Go', { skip: goIsMissing ?? false }, () => {
  let program: string;
  before(async () => {
    program = await buildGoProgram();
  });

  for (const [version, type] of [
    ['v1', 'not found'],
    ['v2', 'com.flowcate.http.not_found'],
  ] as const) {
    test(`creates, reads, changes and deletes trackables and providers in ${version}`, async (t) => {
      const hub = await openTestHub();
      t.after(hub.close);
      const { ended } = runGo(program, ['rest', `${hub.origin}/${version}`, type]);
      assert.deepEqual(await ended, { code: 0, error: '' });
    });
  }

  describe('subscribes', () => {
    let hub: TestHub;
    before(async () => {
      hub = await openTestHub();
      const created = [
        await hub.post('/zones', HALL),
        await hub.post('/fences', square()),
        await hub.post('/trackables', { id: CARTS[0], type: 'omlox', location_providers: ['one'], radius: 1 }),
        await hub.post('/trackables', { id: CARTS[1], type: 'omlox', location_providers: ['two'], radius: 1 }),
      ];
      assert.deepEqual(
        created.map(({ status }) => status),
        [201, 201, 201, 201],
      );
    });
    after(() => hub.close());

    const TOPICS: Readonly<Record<string, (event: Event) => unknown>> = {
      location_updates: ({ provider_id: id, timestamp_sent: sent }) => id !== undefined && Date.parse(sent) > 0,
      'location_updates:geojson': ({ features }) => features[0].type === 'Feature',
      trackable_motions: ({ id, location }) => CARTS.includes(id) && Date.parse(location.timestamp_sent) > 0,
      'trackable_motions:geojson': ({ features }) => features[0].geometry.type === 'Polygon',
      fence_events: ({ event_type: type }) => type === 'region_entry' || type === 'region_exit',
      'fence_events:geojson': ({ features }) => features[0].geometry.type === 'Polygon',
      collision_events: ({ collision_type: type }) => /^collision_start$|^colliding$|^collision_end$/.test(type),
    };
    for (const [topic, isRight] of Object.entries(TOPICS)) {
      test(`to ${topic}, and reads what the same program publishes`, async () => {
        const listener = runGo(program, ['listen', `${hub.origin}/v2`, topic, '2']);
        assert.equal(await listener.line(), 'subscribed');
        const way = [5, 50, 5].flatMap((x) => [inHall('one', x), inHall('two', x + 1)]);
        const sender = runGo(program, ['publish', `${hub.origin}/v2`, 'location_updates']);
        sender.child.stdin?.end(lines(way));
        assert.deepEqual(await sender.ended, { code: 0, error: '' });
        for (let n = 0; n < 2; n++) {
          const event = await listener.line();
          assert.ok(isRight(JSON.parse(event)), event);
        }
        assert.deepEqual(await listener.ended, { code: 0, error: '' });
      });
    }

    test('to more than fits into a message of 32 KiB', async () => {
      const listener = runGo(program, ['listen', `${hub.origin}/v2`, 'location_updates', '40']);
      assert.equal(await listener.line(), 'subscribed');
      const properties = { note: 'x'.repeat(2000) };
      await hub.put(
        '/providers/locations',
        Array.from({ length: 40 }, (_, n) => inHall(`large-${n}`, n, { properties })),
      );
      for (let n = 0; n < 40; n++) assert.match(await listener.line(), /"provider_id":"large-/);
      assert.deepEqual(await listener.ended, { code: 0, error: '' });
    });
  });

  test('publishes with a token and exits at once, and nothing is lost', async () => {
    await whileAuthorized('', async ({ hub, issuer, admin }) => {
      const received = await admin.subscribe('location_updates');
      const gps = { position: { type: 'Point', coordinates: [9, 50] }, provider_type: 'gps', crs: 'EPSG:4326' };
      for (let n = 0; n < FLIGHT; n++) {
        const token = await issuer.token({ roles: ['admin'], claims: { jti: `${n}` } });
        const sender = runGo(program, ['publish', `${hub.origin}/v2`, 'location_updates'], { TOKEN: token });
        sender.child.stdin?.end(lines([{ ...gps, source: '', provider_id: `tag-${n}` }]));
        assert.deepEqual(await sender.ended, { code: 0, error: '' });
      }
      for (let n = 0; n < FLIGHT; n++) await received.next(({ provider_id: id }) => id === `tag-${n}`);
    });
  });

  test('is notified that its token does not permit the subscription, and does not hang', async () => {
    await whileAuthorized('', async ({ hub, issuer }) => {
      for (const TOKEN of ['', 'bad', await issuer.token({ roles: ['none'] })]) {
        const listener = runGo(program, ['listen', `${hub.origin}/v2`, 'fence_events', '1'], { TOKEN });
        const { code, error } = await listener.ended;
        assert.equal(code, 1);
        assert.match(error, /expected subscribed, found .*Code:10004/);
      }
    });
  });
});
