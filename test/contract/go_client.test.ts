import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { TestReply } from '../support/running_hub.ts';
import { type AsGoClient, LOCATION, MAC, openAsGoClient, UUID } from './as_go_client.ts';

/**
 * Requirements of the public Go client (omlox-client-go) that no schema of the REST API expresses. Each row is named
 * after a quirk of the client, and runs against a hub.
 */

const NIL_UUID = '00000000-0000-0000-0000-000000000000';
const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

let client: AsGoClient;
const send: AsGoClient['send'] = (...request) => client.send(...request);

before(async () => {
  client = await openAsGoClient();
});
after(() => client.close());
beforeEach(() => client.clear());

/** Bodies that its generated decoders accept for the status of a write: an object, null, or an empty body. */
function assertDecodable({ status, text }: TestReply): void {
  assert.ok(status >= 200 && status < 300, `${status} ${text}`);
  assert.ok(text === '' || text.startsWith('{') || text === 'null', text);
}

const QUIRKS: Readonly<Record<string, () => Promise<void>>> = {
  async 'It sends no Content-Type, and a line feed after the JSON'() {
    assert.equal((await send('POST', '/trackables', { id: NIL_UUID, type: 'omlox' })).status, 201);
    assert.equal((await send('POST', '/providers', { id: MAC, type: 'uwb' })).status, 201);
    assert.equal((await send('PUT', `/providers/${MAC}/location`, LOCATION)).status, 204);
    assert.equal((await send('PUT', '/providers/locations', [LOCATION])).status, 204);
  },

  async 'It sends the nil UUID for no id'() {
    const ids = new Set<string>();
    for (let i = 0; i < 3; i++) ids.add((await send('POST', '/trackables', { id: NIL_UUID, type: 'omlox' })).body.id);
    assert.equal(ids.size, 3);
    for (const id of ids) assert.ok(UUID_PATTERN.test(id) && id !== NIL_UUID, id);
    const [first] = ids;
    const updated = await send('PUT', `/trackables/${first}`, { id: NIL_UUID, type: 'virtual' });
    assert.deepEqual([updated.status, updated.body.id], [200, first]);
  },

  async 'It reads durations and priorities as integers: no fraction, no exponent'() {
    const trackable = `{"id":"${UUID}","type":"omlox","fence_timeout":5000.0,"tolerance_timeout":5e3,"exit_delay":-1,
      "entry_delay":0,"entry_tolerance_timeout":9007199254740991,"exit_tolerance":1.5,
      "locating_rules":[{"expression":"accuracy < 1","priority":1e1}]}`;
    const { text } = await send('POST', '/trackables', trackable);
    for (const path of [`/trackables/${UUID}`, '/trackables/summary']) {
      const shown = (await send('GET', path)).text;
      for (const member of [
        '"fence_timeout":5000,',
        '"tolerance_timeout":5000,',
        '"exit_delay":-1,',
        '"priority":10}',
      ]) {
        assert.ok(shown.includes(member), shown);
      }
      assert.ok(shown.includes(text) && shown.includes('"entry_tolerance_timeout":9007199254740991,'), shown);
    }
    for (const bad of ['1.5', '1e400', '1e20', '"5000"', '-2']) {
      const provider = `{"id":"p","type":"uwb","fence_timeout":${bad}}`;
      assert.equal((await send('POST', '/providers', provider)).status, 400, bad);
    }
  },

  async 'It compares responses with its requests, so no defaults are filled in'() {
    const trackable = { id: UUID, type: 'omlox', name: 'AGV 7', location_providers: [MAC], radius: 1.5 };
    const provider = { id: MAC, type: 'uwb', name: '', properties: { a: [1, { b: null }], ü: 1.0 } };
    for (const [path, entity] of [
      ['/trackables', trackable],
      ['/providers', provider],
    ] as const) {
      const created = await send('POST', path, entity);
      assert.equal(created.text, JSON.stringify(entity));
      assert.equal((await send('GET', `${path}/${entity.id}`)).text, created.text);
      assert.equal((await send('GET', `${path}/summary`)).text, `[${created.text}]`);
    }
  },

  async 'It reads the body of a 201 without checking that there is one'() {
    for (const [path, body] of [
      ['/trackables', { id: NIL_UUID, type: 'virtual', name: 'n' }],
      ['/providers', { id: 'p', type: 'unknown', name: 'n' }],
      ['/fences', { region: { type: 'Point', coordinates: [8, 50] }, radius: 3, name: 'n' }],
      ['/zones', { type: 'rfid', position: { type: 'Point', coordinates: [8, 50] }, name: 'n' }],
    ] as const) {
      const { status, body: created, headers } = await send('POST', path, body);
      assert.deepEqual([status, created.name], [201, 'n']);
      assert.ok(created.id.length > 0);
      assert.equal(headers.location, `/v2${path}/${created.id}`);
    }
  },

  async 'It reads the response to an update or a deletion as an object, or requires an empty body'() {
    await send('POST', '/trackables', { id: UUID, type: 'omlox' });
    await send('POST', '/providers', { id: MAC, type: 'uwb' });
    const updated = await send('PUT', `/trackables/${UUID}`, { id: UUID, type: 'omlox', name: 'new' });
    assert.deepEqual(updated.body, { id: UUID, type: 'omlox', name: 'new' });
    const patch = { op: 'remove', path: '/name' };
    for (const reply of [
      updated,
      await send('PATCH', `/trackables/${UUID}`, patch),
      await send('PUT', `/providers/${MAC}`, { id: MAC, type: 'gps' }),
      await send('PUT', `/providers/${MAC}/location`, LOCATION),
      await send('PUT', '/providers/locations', [LOCATION]),
      await send('PUT', `/providers/${MAC}/sensors`, [1, 2]),
      await send('DELETE', `/providers/${MAC}/location`),
      await send('DELETE', `/trackables/${UUID}`),
      await send('DELETE', `/providers/${MAC}`),
      await send('DELETE', '/trackables'),
      await send('DELETE', '/providers'),
    ]) {
      assertDecodable(reply);
    }
  },

  async 'It reads lists as arrays, also when they are empty'() {
    const lists = ['/trackables', '/providers', '/fences', '/zones', '/anchors'];
    for (const path of [...lists.flatMap((list) => [list, `${list}/summary`]), '/trackables/motions']) {
      assert.deepEqual([path, (await send('GET', path)).text], [path, '[]']);
    }
    await send('POST', '/trackables', { id: UUID, type: 'omlox' });
    await send('POST', '/providers', { id: MAC, type: 'uwb' });
    assert.deepEqual((await send('GET', '/trackables')).body, [UUID]);
    assert.deepEqual((await send('GET', '/providers')).body, [MAC]);
    for (const name of ['locations', 'providers', 'fences', 'sensors']) {
      assert.deepEqual((await send('GET', `/trackables/${UUID}/${name}`)).body, [], name);
    }
  },

  async 'It knows few types, and cannot parse a list with another: the hub echoes types and invents none'() {
    const types = ['uwb', 'gps', 'wifi', 'rfid', 'ibeacon', 'virtual', 'unknown'];
    for (const type of types) {
      await send('POST', '/providers', { id: `made ${type}`, type });
      await send('PUT', `/providers/seen-${type}/location`, { ...LOCATION, provider_id: '', provider_type: type });
    }
    const shown = (await send('GET', '/providers/summary')).body.map(({ id, type }: { id: string; type: string }) => {
      return [id.slice(5), type];
    });
    assert.deepEqual(
      shown.sort(),
      types
        .flatMap((type) => [
          [type, type],
          [type, type],
        ])
        .sort(),
    );
    for (const type of ['omlox', 'virtual']) await send('POST', '/trackables', { id: NIL_UUID, type });
    const trackables = (await send('GET', '/trackables/summary')).body;
    assert.deepEqual(
      trackables.map(({ type }: { type: string }) => type),
      ['omlox', 'virtual'],
    );
  },

  async 'It shows type, code and message of an error, and any other body unchanged'() {
    for (const [method, path, status, type, body] of [
      ['GET', `/trackables/${UUID}`, 404, '.http.not_found', undefined],
      ['GET', `/trackables/${UUID}/location`, 404, '.http.not_found', undefined],
      ['PUT', '/providers/nobody', 404, '.http.not_found', { type: 'uwb' }],
      ['GET', '/nothing/here', 404, '.http.not_found', undefined],
      ['POST', '/trackables', 400, '.http.bad_request', '{'],
      ['POST', '/trackables', 400, '.http.bad_request', { id: 'no UUID', type: 'omlox' }],
      ['PUT', '/providers/p/location', 400, '.http.bad_request', { ...LOCATION, crs: 'EPSG:1' }],
      ['PUT', '/trackables', 405, '.http.method_not_allowed', {}],
    ] as const) {
      const reply = await send(method, path, body);
      assert.equal(reply.status, status, path);
      assert.deepEqual(Object.keys(reply.body), ['type', 'code', 'message', 'reason', 'params']);
      assert.deepEqual([reply.body.type, reply.body.code], [`com.flowcate${type}`, status]);
      assert.match(String(reply.headers['content-type']), /^application\/json/);
    }
  },

  async 'It puts ids into paths as they are, colons included'() {
    await send('POST', '/providers', { id: MAC, type: 'uwb' });
    assert.equal((await send('GET', `/providers/${MAC}`)).body.id, MAC);
    assert.equal((await send('PUT', `/providers/${MAC}/location`, LOCATION)).status, 204);
    assert.equal((await send('GET', `/providers/${MAC.replaceAll(':', '%3A')}/location`)).body.provider_id, MAC);
    assert.equal((await send('DELETE', `/providers/${MAC}`)).status, 204);
  },

  async 'It sends unset members of a location as empty strings'() {
    const location = { ...LOCATION, source: '', provider_type: 'unknown', provider_id: '' };
    assert.equal((await send('PUT', `/providers/${MAC}/location`, location)).status, 204);
    const { body } = await send('GET', `/providers/${MAC}/location`);
    assert.deepEqual([body.provider_id, body.source, body.provider_type], [MAC, MAC, 'unknown']);
    const local = await send('PUT', `/providers/${MAC}/location`, { ...location, crs: 'local' });
    assert.equal(local.status, 400);
  },

  async 'It reads times as RFC 3339 and trackables of a location as UUIDs'() {
    await send('POST', '/trackables', { id: UUID, type: 'omlox', location_providers: [MAC] });
    await send('PUT', `/providers/${MAC}/location`, LOCATION);
    const { body } = await send('GET', `/trackables/${UUID}/location`);
    assert.match(body.timestamp_generated, TIMESTAMP);
    assert.deepEqual(body.trackables, [UUID]);
    await send('PUT', `/providers/${MAC}/location`, { ...LOCATION, timestamp_generated: '2026-03-01T12:00:00+01:00' });
    for (const { timestamp_generated: time } of (await send('GET', '/providers/locations')).body) {
      assert.match(time, TIMESTAMP);
    }
  },
};

describe('omlox-client-go on the REST API', () => {
  for (const [name, check] of Object.entries(QUIRKS)) test(name, check);
});
