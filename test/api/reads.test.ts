import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { QueryResult, Query } from '../../src/core/item.ts';
import { polygon, UUID_A, UUID_B, uwbZone } from '../entities/open_entities.ts';
import { type Answering, openApi } from './open_api.ts';

const WGS84 = { crs: 'EPSG:4326', geojson: false };
const T = UUID_A.toUpperCase();

/** The API with provider `p`, trackable `T`, fence `f` and zone `hall`. */
async function openWithEntities(answers: Answering) {
  const api = openApi({ answers });
  await api.entities.create('zone', uwbZone({ id: 'hall', foreign_id: 'h' }));
  await api.entities.create('provider', { id: 'p', type: 'uwb' });
  await api.entities.create('provider', { id: 'q', type: 'gps' });
  await api.entities.create('trackable', { id: T, type: 'omlox' });
  await api.entities.create('fence', { id: 'f', region: polygon() });
  await api.entities.create('fence', { id: 'e', region: polygon() });
  return api;
}

const texts = (...list: string[]): QueryResult => ({ texts: list });
const ids = (...list: string[]): QueryResult => ({ ids: list });

const ONE: readonly (readonly [string, Query])[] = [
  ['/v2/providers/p/location', { ask: 'provider_location', id: 'p', view: WGS84 }],
  [`/v2/trackables/${UUID_A}/location`, { ask: 'trackable_location', id: T, view: WGS84 }],
  [`/v2/trackables/${UUID_A}/motion`, { ask: 'trackable_motion', id: T, view: WGS84 }],
];

const LISTS: readonly (readonly [string, Query])[] = [
  ['/v2/providers/locations', { ask: 'provider_locations', view: WGS84 }],
  ['/v2/trackables/motions', { ask: 'trackable_motions', view: WGS84 }],
  [`/v2/trackables/${UUID_A}/locations`, { ask: 'trackable_locations', id: T, view: WGS84 }],
  ['/v2/fences/f/locations', { ask: 'fence_locations', id: 'f', spatial: false, view: WGS84 }],
  ['/v2/fences/f/motions', { ask: 'fence_motions', id: 'f', spatial: false, view: WGS84 }],
];

const ENTITIES: readonly (readonly [string, Query, readonly string[]])[] = [
  ['/v2/fences/f/providers', { ask: 'fence_providers', id: 'f', spatial: false }, ['q', 'gone', 'p']],
  ['/v2/fences/f/trackables', { ask: 'fence_trackables', id: 'f', spatial: false }, [T]],
  ['/v2/providers/p/fences', { ask: 'provider_fences', id: 'p', spatial: false }, ['f', 'e']],
  [`/v1/trackables/${UUID_A}/fences`, { ask: 'trackable_fences', id: T, spatial: false }, ['f']],
];

describe('one location or motion', () => {
  for (const [path, query] of ONE) {
    it(`is queried and returned as a string by ${path}`, async () => {
      const { handle, asked } = await openWithEntities(() => [{ absent: true }, texts('{"n":1.50}')]);
      const reply = await handle('GET', path);
      assert.deepEqual([reply.status, reply.body], [200, '{"n":1.50}']);
      assert.deepEqual(asked, [query]);
    });

    it(`is 404 by ${path} without data, or without the object`, async () => {
      const { send } = await openWithEntities(() => [{ absent: true }]);
      const { status, body } = await send('GET', path);
      assert.equal(status, 404);
      assert.match(
        body.message,
        /^Cannot get (location|motion) of (provider|trackable) ".*": it has not been reported$/,
      );
      assert.equal((await send('GET', path.replace(/(p|0b68[^/]*)\/(loc|mot)/, `${UUID_B}/$2`))).status, 404);
    });

    it(`is 400 by ${path} if it has no position in the view`, async () => {
      const { send, asked } = await openWithEntities(() => [{ absent: true }, { unplaced: 'gps-1' }]);
      const { status, body } = await send('GET', `${path}?crs=local`);
      assert.deepEqual([status, body.message.endsWith('cannot be shown in local: found source "gps-1"')], [400, true]);
      assert.deepEqual(asked[0], { ...query, view: { ...WGS84, crs: 'local' } });
    });
  }
});

describe('lists of locations and motions', () => {
  for (const [path, query] of LISTS) {
    it(`are concatenated as strings by ${path}`, async () => {
      const { handle, asked } = await openWithEntities(() => [
        texts('{"n":1.0}', '{"n":2}'),
        { absent: true },
        texts(),
        texts('{"n":3}'),
      ]);
      assert.equal((await handle('GET', path)).body, '[{"n":1.0},{"n":2},{"n":3}]');
      assert.deepEqual(asked, [query]);
    });

    it(`are empty by ${path} without data, and FeatureCollections`, async () => {
      const { handle, asked } = await openWithEntities(() => []);
      assert.equal((await handle('GET', path)).body, '[]');
      const reply = await handle('GET', `${path}?geojson=true&crs=local&zone_id=h`);
      assert.equal(reply.body, '{"type":"FeatureCollection","features":[]}');
      assert.deepEqual(asked[1], { ...query, view: { crs: 'local', zoneId: 'hall', geojson: true } });
    });

    it(`are 400 by ${path} for a view that does not exist`, async () => {
      const { send, asked } = await openWithEntities(() => []);
      for (const bad of ['crs=EPSG:3857', 'crs=', 'crs=local&zone_id=nowhere', 'geojson=2']) {
        assert.equal((await send('GET', `${path}?${bad}`)).status, 400, bad);
      }
      assert.deepEqual(asked, []);
    });
  }
});

describe('lists of entities', () => {
  for (const [path, query, found] of ENTITIES) {
    it(`are objects, sorted by id, by ${path}`, async () => {
      const { send, asked } = await openWithEntities(() => [ids(...found.slice(0, 1)), ids(...found.slice(1))]);
      const { status, body } = await send('GET', path);
      assert.equal(status, 200);
      const expected = found.filter((id) => id !== 'gone').sort();
      assert.deepEqual(
        body.map((row: { id: string }) => row.id),
        expected,
      );
      assert.ok(body.every((row: object) => 'type' in row || 'region' in row));
      assert.deepEqual(asked, [query]);
    });

    it(`accept spatial_query by ${path}`, async () => {
      const { send, asked } = await openWithEntities(() => []);
      assert.deepEqual((await send('GET', `${path}?spatial_query=1`)).body, []);
      assert.deepEqual(asked, [{ ...query, spatial: true }]);
      assert.equal((await send('GET', `${path}?spatial_query=nearby`)).status, 400);
    });
  }

  it('are 404 for an unknown object', async () => {
    const { send, asked } = await openWithEntities(() => []);
    for (const path of [
      'fences/x/providers',
      'fences/x/motions',
      'providers/x/fences',
      `trackables/${UUID_B}/fences`,
    ]) {
      assert.equal((await send('GET', `/v2/${path}`)).status, 404, path);
    }
    assert.deepEqual(asked, []);
  });
});

describe('locations', () => {
  const one = {
    position: { type: 'Point', coordinates: [8, 50] },
    source: 's',
    provider_type: 'gps',
    crs: 'EPSG:4326',
  };

  it('are submitted synchronously if nothing has to be awaited', () => {
    const { handle, accepted } = openApi();
    const body = new TextEncoder().encode(JSON.stringify(one));
    const reply = handle('PUT', '/v2/providers/tag%2F1/location', body);
    assert.ok(!(reply instanceof Promise));
    assert.deepEqual([reply.status, reply.body], [204, undefined]);
    const options = { root: '', providerId: 'tag/1', tooOld: undefined };
    assert.deepEqual(accepted, [{ what: 'locations', values: [one], options }]);
  });

  for (const [method, path, what, root] of [
    ['PUT', '/v2/providers/locations', 'locations', 'locations'],
    ['POST', '/hub/v1/providers/locations/', 'locations', 'locations'],
    ['PUT', '/v2/providers/proximities', 'proximities', 'proximities'],
    ['POST', '/v1/providers/proximities', 'proximities', 'proximities'],
  ] as const) {
    it(`are submitted as one body by ${method} ${path}`, async () => {
      const { send, accepted } = openApi();
      assert.equal((await send(method, path, [one, one])).status, 204);
      assert.deepEqual(accepted, [{ what, values: [one, one], options: { root, tooOld: undefined } }]);
      for (const bad of [{}, '"a"', 'null', '[', '']) {
        const { status, body } = await send(method, path, bad);
        assert.equal(status, 400);
        assert.match(body.message, /^body: must be (an array|JSON), found /);
      }
      assert.equal(accepted.length, 1);
    });
  }

  it('of a proximity are submitted', async () => {
    const { send, accepted } = openApi();
    const near = { source: 'reader', provider_type: 'rfid' };
    assert.equal((await send('PUT', '/v2/providers/p/proximity', near)).status, 204);
    assert.deepEqual(accepted, [
      { what: 'proximities', values: [near], options: { root: '', providerId: 'p', tooOld: undefined } },
    ]);
  });

  it('are answered when they are stored, and rejected with their problems', async () => {
    const failures = ['HUB_BAD_REQUEST', 'HUB_UNAVAILABLE'] as const;
    for (const code of failures) {
      const error = errorWith(code, 'locations[1].floor: no');
      const thrown = openApi({
        acceptLocations: () => {
          throw error;
        },
      });
      const rejected = openApi({ acceptLocations: () => Promise.reject(error) });
      for (const { send } of [thrown, rejected]) {
        const { status, body } = await send('PUT', '/v2/providers/locations', [one]);
        assert.deepEqual([status, body.message], [error.status, 'locations[1].floor: no']);
      }
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const reply = openApi({ acceptLocations: () => promise }).send('PUT', '/v2/providers/p/location', one);
    resolve();
    assert.equal((await reply).status, 204);
  });

  it('nested so deeply that validation overflows the stack are 400', async () => {
    const acceptLocations = (values: readonly unknown[]) => void JSON.stringify(values);
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const { status, body } = await openApi({ acceptLocations }).send('PUT', '/v2/providers/p/location', deep);
    assert.deepEqual([status, body.message], [400, 'body: must be nested at most 200 levels deep, found more']);
  });

  it('are deleted, for one known provider or for all', async () => {
    const { send, entities, accepted } = openApi();
    await entities.create('provider', { id: T, type: 'uwb' });
    assert.equal((await send('DELETE', `/v2/providers/${UUID_A}/location`)).status, 204);
    assert.equal((await send('DELETE', '/v2/providers/nobody/location')).status, 404);
    assert.equal((await send('DELETE', '/v2/providers/locations')).status, 204);
    assert.deepEqual(accepted, [
      { what: 'forget', values: [T] },
      { what: 'forget all', values: [] },
    ]);
    assert.deepEqual(entities.count('provider'), 1);
  });
});
