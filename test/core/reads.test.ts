import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { QueryResult, Query } from '../../src/core/item.ts';
import { HALL, square } from '../support/hall.ts';
import { fence, inHall, locationAt, provider, ShardHarness, T0, trackable, zone } from '../support/shard_harness.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;
const VIEW = { crs: 'local' };

/**
 * Three carts with one tag each: `in` is inside the fences, `out` has left them but is still a member of `slow`, and `silent`
 * has no location.
 */
async function open(): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'dock' })), fence(square({ id: 'slow', exit_delay: 60_000 })));
  harness.tell(0, fence(square({ id: 'shy', entry_delay: 60_000 })));
  for (const id of ['in', 'out', 'silent']) {
    harness.tell(0, provider(`${id}-tag`), trackable(`${id}-cart`, [`${id}-tag`], { radius: 1 }));
  }
  harness.tell(1, inHall(1, IN, { provider_id: 'in-tag' }), inHall(1, IN, { provider_id: 'out-tag' }));
  harness.tell(2, inHall(2, OUT, { provider_id: 'out-tag' }));
  return harness;
}

function ids(harness: ShardHarness, query: Query): string[] {
  return [...(harness.ask(3, query) as { ids: string[] }).ids].sort();
}

function texts(harness: ShardHarness, query: Query): object[] {
  return (harness.ask(3, query) as { texts: string[] }).texts.map((text) => JSON.parse(text));
}

function providersOf(list: object[]): string[] {
  return (list as { provider_id?: string; location?: { provider_id: string } }[])
    .map(({ provider_id: id, location }) => id ?? (location?.provider_id as string))
    .sort();
}

describe('objects in a fence are', () => {
  for (const { id, spatial, expected } of [
    { id: 'dock', spatial: false, expected: ['in'] },
    { id: 'dock', spatial: true, expected: ['in'] },
    { id: 'slow', spatial: false, expected: ['in', 'out'] },
    { id: 'slow', spatial: true, expected: ['in'] },
    { id: 'shy', spatial: false, expected: [] },
    { id: 'shy', spatial: true, expected: ['in'] },
    { id: 'unknown', spatial: false, expected: [] },
    { id: 'unknown', spatial: true, expected: [] },
  ]) {
    test(`${spatial ? 'those whose last position touches it' : 'its members'}: ${id}`, async () => {
      const harness = await open();
      const carts = expected.map((name) => `${name}-cart`);
      const tags = expected.map((name) => `${name}-tag`);
      assert.deepEqual(ids(harness, { ask: 'fence_providers', id, spatial }), tags);
      assert.deepEqual(ids(harness, { ask: 'fence_trackables', id, spatial }), carts);
      assert.deepEqual(providersOf(texts(harness, { ask: 'fence_locations', id, spatial, view: VIEW })), tags);
      assert.deepEqual(providersOf(texts(harness, { ask: 'fence_motions', id, spatial, view: VIEW })), tags);
    });
  }

  test('those that touch it with their extent', async () => {
    const harness = await open();
    harness.tell(2, inHall(2, [10.5, 5], { provider_id: 'in-tag' }));
    assert.deepEqual(ids(harness, { ask: 'fence_providers', id: 'dock', spatial: true }), []);
    assert.deepEqual(ids(harness, { ask: 'fence_trackables', id: 'dock', spatial: true }), ['in-cart']);
  });
});

describe('fences of an object are', () => {
  test('those that it is a member of, or whose region its last position touches', async () => {
    const harness = await open();
    for (const [kind, name] of [
      ['provider', 'tag'],
      ['trackable', 'cart'],
    ] as const) {
      const fencesOf = (id: string, spatial: boolean): string[] =>
        ids(harness, { ask: `${kind}_fences`, id: `${id}-${name}`, spatial });
      assert.deepEqual(fencesOf('in', false), ['dock', 'slow']);
      assert.deepEqual(fencesOf('in', true), ['dock', 'shy', 'slow']);
      assert.deepEqual(fencesOf('out', false), ['slow']);
      assert.deepEqual(fencesOf('out', true), []);
      for (const id of ['silent', 'unknown']) assert.deepEqual([fencesOf(id, false), fencesOf(id, true)], [[], []]);
    }
  });
});

describe('locations and motions', () => {
  const absent: QueryResult = { absent: true };

  test('of an object without any are absent', async () => {
    const harness = await open();
    for (const id of ['silent', 'unknown']) {
      assert.deepEqual(harness.ask(3, { ask: 'provider_location', id: `${id}-tag`, view: VIEW }), absent);
      assert.deepEqual(harness.ask(3, { ask: 'trackable_location', id: `${id}-cart`, view: VIEW }), absent);
      assert.deepEqual(harness.ask(3, { ask: 'trackable_motion', id: `${id}-cart`, view: VIEW }), absent);
      assert.deepEqual(harness.ask(3, { ask: 'trackable_locations', id: `${id}-cart`, view: VIEW }), { texts: [] });
    }
  });

  test('of all objects omit those without any', async () => {
    const harness = await open();
    const tags = ['in-tag', 'out-tag'];
    assert.deepEqual(providersOf(texts(harness, { ask: 'provider_locations', view: VIEW })), tags);
    assert.deepEqual(providersOf(texts(harness, { ask: 'trackable_motions', view: VIEW })), tags);
  });

  test('of all providers of a trackable are in the order of its list', async () => {
    const harness = await open();
    harness.tell(2, trackable('both', ['out-tag', 'silent-tag', 'in-tag']));
    const list = texts(harness, { ask: 'trackable_locations', id: 'both', view: VIEW }) as { provider_id: string }[];
    assert.deepEqual(
      list.map(({ provider_id: id }) => id),
      ['out-tag', 'in-tag'],
    );
  });

  test('are returned in the requested view', async () => {
    const harness = await open();
    const [plain] = texts(harness, { ask: 'provider_location', id: 'in-tag', view: VIEW }) as [object];
    const { position, ...properties } = plain as { position: object };
    assert.deepEqual(position, { type: 'Point', coordinates: [5, 5] });
    const view = { crs: 'local', zoneId: HALL.id, geojson: true };
    for (const query of [
      { ask: 'provider_location', id: 'in-tag', view },
      { ask: 'trackable_location', id: 'in-cart', view },
      { ask: 'fence_locations', id: 'dock', spatial: false, view },
    ] as const) {
      assert.deepEqual(texts(harness, query), [{ type: 'Feature', geometry: position, properties }]);
    }
    const [motion] = texts(harness, { ask: 'trackable_motion', id: 'in-cart', view }) as {
      geometry: { type: string };
    }[];
    assert.equal(motion?.geometry.type, 'Polygon');
  });

  test('that cannot be converted to the view are an error, and omitted from lists', async () => {
    const harness = await open();
    harness.tell(2, locationAt(2, 9, 50, { provider_id: 'silent-tag', source: 'gps' }));
    const unplaced: QueryResult = { unplaced: 'gps' };
    assert.deepEqual(harness.ask(3, { ask: 'provider_location', id: 'silent-tag', view: VIEW }), unplaced);
    assert.deepEqual(harness.ask(3, { ask: 'trackable_location', id: 'silent-cart', view: VIEW }), unplaced);
    assert.deepEqual(harness.ask(3, { ask: 'trackable_motion', id: 'silent-cart', view: VIEW }), unplaced);
    assert.equal(texts(harness, { ask: 'provider_locations', view: VIEW }).length, 2);
    assert.equal(texts(harness, { ask: 'trackable_motions', view: VIEW }).length, 2);
    assert.equal(texts(harness, { ask: 'provider_locations', view: { crs: 'EPSG:4326' } }).length, 3);
  });

  test('of providers name the current trackables of the provider', async () => {
    const harness = await open();
    harness.tell(2, trackable('another', ['in-tag']));
    const trackables = (query: Query): unknown => {
      const [shown] = texts(harness, query) as { trackables: string[] }[];
      return shown?.trackables;
    };
    for (const query of [
      { ask: 'provider_location', id: 'in-tag', view: VIEW },
      { ask: 'trackable_location', id: 'in-cart', view: VIEW },
      { ask: 'trackable_locations', id: 'in-cart', view: VIEW },
      { ask: 'fence_locations', id: 'dock', spatial: false, view: VIEW },
    ] as const) {
      assert.deepEqual(trackables(query), ['another', 'in-cart'], query.ask);
    }
  });
});

test('A sample has the objects faster than a speed with a recent location, and the positions of some trackables', async () => {
  const harness = await open();
  harness.tell(3, inHall(3, [5, 7], { provider_id: 'in-tag', speed: 60, floor: 3 }));
  harness.tell(3, inHall(3, OUT, { provider_id: 'silent-tag', speed: 50 }));
  const query: Query = { ask: 'sample', above: 50, only: ['in-cart', 'unknown'], providers: true };
  const { positions, ...speeds } = harness.ask(4, query) as Extract<QueryResult, { positions: unknown }>;
  assert.deepEqual(speeds, { speeds: [['in-cart', 60]], providerSpeeds: [['in-tag', 60]] });
  assert.deepEqual(
    positions.map(([id, , , floor]) => [id, floor]),
    [['in-cart', 3]],
  );
  assert.ok(positions.every(([, lon, lat]) => Number.isFinite(lon) && Number.isFinite(lat)));
  const unlimited = harness.ask(64, { ask: 'sample', only: [] });
  assert.deepEqual(unlimited, { speeds: [], positions: [] });
  const later = harness.ask(64, query) as Extract<QueryResult, { positions: unknown }>;
  assert.deepEqual([later.speeds, later.positions.length], [[], 1]);
});

test('A read sees earlier items of the same batch, and no later ones', async () => {
  const harness = await open();
  const query: Query = { ask: 'fence_providers', id: 'dock', spatial: false };
  const { answers } = harness.tell(
    5,
    { kind: 'read', id: 1, query },
    inHall(5, IN, { provider_id: 'silent-tag' }),
    { kind: 'read', id: 2, query },
    inHall(5, OUT, { provider_id: 'in-tag' }),
    { kind: 'read', id: 3, query },
  );
  assert.deepEqual(answers, [
    [1, { ids: ['in-tag'] }],
    [2, { ids: ['in-tag', 'silent-tag'] }],
    [3, { ids: ['silent-tag'] }],
  ]);
});

test('A read sees deadlines that were due before it', async () => {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'dock', timeout: 2000 })));
  const query: Query = { ask: 'fence_providers', id: 'dock', spatial: false };
  const items = [
    ...harness.items(1, inHall(1, IN)),
    ...harness.items(2.9, { kind: 'read', id: 1, query }),
    ...harness.items(3, { kind: 'read', id: 2, query }),
  ];
  const { answers } = harness.shard.step({ nowMs: T0 + 3000, items, flushBudget: 0 });
  assert.deepEqual(answers, [
    [1, { ids: ['tag'] }],
    [2, { ids: [] }],
  ]);
});
