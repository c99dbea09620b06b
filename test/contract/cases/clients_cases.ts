import assert from 'node:assert/strict';
import { once } from 'node:events';
import { whileAuthorized } from '../../auth/authorized_hub.ts';
import { type TestHub, whileHubRuns } from '../../support/running_hub.ts';
import type { Event } from '../../support/socket_client.ts';
import type { ContractCase } from './contract_case.ts';

const UUID = '0b680db2-b39b-45be-be77-40d7d2296cb4';
const SENT = '2026-03-01T12:00:00.5Z';

/** Known difficulties of public clients of omlox hubs. */
export const CLIENTS_CASES: readonly ContractCase[] = [
  {
    by: '114',
    name: 'Locations whose connection closes right after them are accepted, while their token is verified',
    hub: 'none',
    run: () =>
      whileAuthorized('', async ({ admin, hub, issuer }) => {
        const received = await admin.subscribe('location_updates');
        for (let n = 0; n < 10; n++) {
          const token = await issuer.token({ roles: ['admin'], claims: { jti: `${n}` } });
          const client = await hub.socket();
          for (const step of [0, 1]) {
            client.send(publish('location_updates', { token }, gps(`tag-${n}`, { floor: step })));
          }
          client.socket.close();
        }
        for (let n = 0; n < 10; n++)
          await received.next((event) => event.provider_id === `tag-${n}` && event.floor === 1);
        const order = received.events.filter(({ provider_id: id }) => id === 'tag-3').map(({ floor }) => floor);
        assert.deepEqual(order, [0, 1]);
        assert.equal((await admin.get('/providers')).body.length, 10);
      }),
  },
  {
    by: '114',
    name: 'A closed connection makes no more subscriptions',
    hub: 'none',
    run: () =>
      whileAuthorized('', async ({ hub, issuer, admin }) => {
        const received = await admin.subscribe('location_updates');
        const token = await issuer.token({ roles: ['admin'], claims: { jti: 'leaves' } });
        const client = await hub.socket();
        client.send({ event: 'subscribe', topic: 'fence_events', params: { token } });
        client.send(publish('location_updates', { token }, gps('tag', {})));
        client.socket.close();
        await received.next();
        assert.equal((await admin.get('/health/ws')).body.number_of_subscribers_fence_events, 0);
        // The event log listens, but does not subscribe.
        assert.ok(!hub.hub.fanout.interest().some(({ topic }) => topic === 'fence_events'));
      }),
  },
  {
    by: '114',
    name: 'Locations whose connection closes right after them are accepted in order without authorization, too',
    async run({ hub }) {
      const gate = {
        id: UUID,
        type: 'rfid',
        foreign_id: 'gate',
        position: { type: 'Point', coordinates: [9, 50] },
        radius: 5,
      };
      assert.equal((await hub.post('/zones', gate)).status, 201);
      const received = await hub.subscribe('location_updates');
      const client = await hub.socket();
      const badge = { source: 'gate', provider_type: 'rfid', provider_id: 'badge' };
      for (let n = 1; n <= 5; n++) client.send(publish('proximity_updates', {}, { ...badge, accuracy: n }));
      client.socket.close();
      await received.next(({ accuracy }) => accuracy === 5);
      assert.deepEqual(
        received.events.map(({ accuracy }) => accuracy),
        [1, 2, 3, 4, 5],
      );
    },
  },
  {
    by: '114',
    name: 'A hub that shuts down processes the frames that it has received',
    alone: 'the same settings are required of all hubs of a cluster',
    hub: 'none',
    run: () =>
      whileAuthorized('', async ({ hub, issuer }) => {
        // Verifying them takes longer than the hub grants connections to close.
        const names = Array.from({ length: 300 }, (_, n) => `tag-${n}`);
        const tokens = await Promise.all(names.map((jti) => issuer.token({ roles: ['admin'], claims: { jti } })));
        const client = await hub.socket();
        for (const [n, token] of tokens.entries()) {
          client.send(publish('location_updates', { token }, gps(`tag-${n}`, {})));
        }
        const arrived = once(client.socket, 'pong');
        client.socket.ping();
        await arrived;
        await hub.hub.close();
        await whileHubRuns(hub.folder, {}, async (next) => {
          assert.deepEqual((await next.get('/providers')).body.sort(), names.sort());
        });
      }),
  },
  {
    by: '115',
    name: '/license/info needs no token, and everything else about the license does',
    hub: 'none',
    run: () =>
      whileAuthorized('', async ({ hub, admin }) => {
        for (const version of ['v1', 'v2']) {
          const license = `${hub.origin}/hub/${version}/license`;
          const { status, body } = await hub.get(`${license}/info`);
          assert.deepEqual([status, typeof body.info], [200, 'string']);
          assert.equal(
            (await hub.request('GET', `${license}/info`, undefined, { Authorization: 'Bearer x' })).status,
            200,
          );
          for (const [method, path] of [
            ['GET', 'lease'],
            ['DELETE', 'lease'],
            ['PUT', 'key'],
            ['GET', 'starttrial'],
          ] as const) {
            assert.equal((await hub.request(method, `${license}/${path}`)).status, 401, `${method} ${path}`);
          }
          const { body: document } = await admin.get(`${hub.origin}/hub/${version}/openapi.json`);
          const { security, responses } = document.paths['/license/info'].get;
          assert.deepEqual([security, responses['401'], responses['403']], [[], undefined, undefined]);
        }
      }),
  },
  {
    by: '117',
    name: 'A rule may have a string in double quotes if no property has that name',
    async run({ hub }) {
      const rules = [
        { expression: 'type = "uwb"', priority: 3 },
        { expression: '"type" = "gps" AND "ACCURACY" < 5', priority: 2 },
      ];
      const cart = { id: UUID, type: 'omlox', location_providers: ['uwb-tag', 'gps-tag'], locating_rules: rules };
      const created = await hub.post('/trackables', cart);
      assert.deepEqual([created.status, created.body.locating_rules], [201, rules]);
      await hub.put('/providers/uwb-tag/location', gps('uwb-tag', { provider_type: 'uwb', accuracy: 9 }));
      await hub.put('/providers/gps-tag/location', gps('gps-tag', { accuracy: 1 }));
      assert.equal((await hub.get(`/trackables/${UUID}/location`)).body.provider_id, 'uwb-tag');
      await hub.delete('/providers/uwb-tag');
      assert.equal((await hub.get(`/trackables/${UUID}/location`)).body.provider_id, 'gps-tag');
    },
  },
  {
    by: '117, 89',
    name: 'The validator accepts an expression with double quotes as plain text, as a JSON string and in an object',
    async run({ hub }) {
      const expression = '"type" = "uwb"';
      for (const body of [expression, 'type = "uwb"', JSON.stringify(expression), { expression }, '"accuracy < 10"']) {
        assert.equal((await hub.post('/validator/rules/locating', body)).status, 204, JSON.stringify(body));
      }
      for (const [body, message] of [
        ['type = "uwb', 'expression: expected a closing quote for the string at column 8, found the end'],
        ['"accuracy <"', 'expression: expected a value at column 11, found nothing'],
      ] as const) {
        const { status, body: error } = await hub.post('/validator/rules/locating', body);
        assert.deepEqual([status, error.message], [400, message]);
      }
    },
  },
  {
    by: '118',
    name: 'Every published location has the time at which the hub sent it',
    async run({ hub }) {
      const topics = ['location_updates', 'location_updates:geojson', 'trackable_motions', 'trackable_motions:geojson'];
      assert.equal(
        (await hub.post('/trackables', { id: UUID, type: 'omlox', location_providers: ['tag'] })).status,
        201,
      );
      const received = await Promise.all([
        ...topics.map((topic) => hub.subscribe(topic)),
        ...topics.map((topic) => hub.subscribe(topic, { crs: 'EPSG:32632' })),
      ]);
      for (const sent of [undefined, SENT]) {
        const beforeMs = Date.now();
        await hub.put('/providers/tag/location', gps('tag', { timestamp_sent: sent }));
        await hub.settle();
        const afterMs = Date.now();
        for (const recorder of received) {
          const events = recorder.take();
          assert.equal(events.length, 1, recorder.topic);
          const { timestamp_sent: time } = locationOf(events[0]);
          assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, recorder.topic);
          assert.ok(Date.parse(time) >= beforeMs && Date.parse(time) <= afterMs, `${recorder.topic}: ${time}`);
        }
      }
    },
  },
  {
    by: '118',
    name: 'Every published proximity has the time at which the hub sent it',
    async run({ hub }) {
      const gate = { id: UUID, type: 'rfid', position: { type: 'Point', coordinates: [9, 50] }, radius: 5 };
      await hub.post('/zones', gate);
      const received = await hub.subscribe('proximity_updates');
      const proximity = { source: UUID, provider_type: 'rfid', provider_id: 'badge' };
      const beforeMs = Date.now();
      await hub.put('/providers/badge/proximity', { ...proximity, timestamp_sent: SENT });
      const { timestamp_sent: time, ...rest } = await received.next();
      assert.ok(Date.parse(time) >= beforeMs && Date.parse(time) <= Date.now(), time);
      assert.deepEqual(rest, proximity);
    },
  },
  {
    by: '118, 38',
    name: 'A queried location has the time at which its source sent it, also after a restart',
    async run({ hub, restart }) {
      await hub.put('/providers/timed/location', gps('timed', { timestamp_sent: SENT }));
      await hub.put('/providers/untimed/location', gps('untimed', {}));
      const received = await hub.subscribe('location_updates');
      await hub.put('/providers/timed/location', gps('timed', { timestamp_sent: SENT }));
      assert.notEqual((await received.next()).timestamp_sent, SENT);
      const shown = async (asked: TestHub) => {
        const locations: Event[] = (await asked.get('/providers/locations')).body;
        return locations.map(({ provider_id: id, timestamp_sent: sent }) => [id, sent]).sort();
      };
      const expected = [
        ['timed', SENT],
        ['untimed', undefined],
      ];
      assert.deepEqual(await shown(hub), expected);
      assert.deepEqual(await shown(await restart()), expected);
    },
  },
];

function publish(topic: string, params: object, ...payload: readonly object[]) {
  return { event: 'message', topic, params, payload };
}

function gps(id: string, more: object) {
  const position = { type: 'Point', coordinates: [9, 50] };
  return { position, source: id, provider_type: 'gps', provider_id: id, crs: 'EPSG:4326', ...more };
}

/** The location in an event of any topic with locations. */
function locationOf(event: Event): Event {
  const members = event.features?.[0].properties ?? event;
  return members.location ?? members;
}
