import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { point, rfidZone, UUID_A, UUID_B, uwbZone } from '../entities/open_entities.ts';
import { HALL } from '../support/hall.ts';
import { assertNear } from './open_api.ts';
import { polygonOf, withZones } from './with_zones.ts';

const SQUARE_M = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [10, 0],
      [10, 10],
      [0, 10],
      [0, 0],
    ],
  ],
};

describe('GET /zones/{id}/createfence', () => {
  it('returns a fence of the points of a zone, without storing it', async () => {
    const { send, entities } = await withZones({ ...HALL, name: 'Hall 1', exit_delay: 5000 });
    const { status, body } = await send('GET', `/v2/zones/${HALL.id.toUpperCase()}/createfence`);
    assert.equal(status, 200);
    const points = (HALL.ground_control_points ?? []).filter((_, i) => i % 2 === 0);
    const { id, ...rest } = body;
    assert.deepEqual(rest, {
      region: { type: 'Polygon', coordinates: [[...points, points[0]]] },
      floor: 0,
      name: 'Hall 1',
      exit_delay: 5000,
    });
    assert.match(id, /^[0-9a-f-]{36}$/);
    assert.equal(entities.count('fence'), 0);
    assert.deepEqual((await send('POST', '/v2/fences', body)).body, body);
  });

  it('creates a circle from a proximity zone', async () => {
    const { send } = await withZones(rfidZone({ id: 'reader', radius: 4, floor: 2 }));
    const { body } = await send('GET', '/v1/zones/reader/createfence');
    const { id: _id, ...rest } = body;
    assert.deepEqual(rest, { region: point(8.68, 50.11), radius: 4, floor: 2 });
  });

  it('returns the hull of points whose polygon crosses itself', async () => {
    const rows = HALL.ground_control_points ?? [];
    const crossed = [...rows.slice(0, 2), ...rows.slice(4, 6), ...rows.slice(2, 4), ...rows.slice(6)];
    const { send } = await withZones({ ...HALL, ground_control_points: crossed });
    assert.equal(polygonOf((await send('GET', `/v2/zones/${HALL.id}/createfence`)).body).length, 5);
  });

  it('returns the hull of points if one is in the interior', async () => {
    const rows = [...(HALL.ground_control_points ?? []), [9.0005, 50.0004], [36, 44]];
    const { send } = await withZones({ ...HALL, ground_control_points: rows });
    const ring = polygonOf((await send('GET', `/v2/zones/${HALL.id}/createfence`)).body);
    assert.deepEqual(
      ring,
      [0, 2, 4, 6, 0].map((row) => rows[row]),
    );
  });

  const refused: readonly (readonly [string, object, RegExp])[] = [
    ['no radius', rfidZone({ id: 'z' }), /^radius: must be greater than 0 .*found nothing$/],
    ['radius 0', rfidZone({ id: 'z', radius: 0 }), /^radius: must be greater than 0 .*found 0$/],
    ['no position', { id: 'z', type: 'rfid', incomplete_configuration: true }, /^position: is required/],
    ['no points', { id: 'z', type: 'uwb', incomplete_configuration: true }, /^ground_control_points: must outline/],
    [
      'points on a line',
      uwbZone({
        id: 'z',
        ground_control_points: [
          [8, 50],
          [0, 0],
          [8.001, 50],
          [100, 0],
          [8.002, 50],
          [200, 0],
        ],
      }),
      /^ground_control_points: must outline an area, found 3 pairs of rows on one line$/,
    ],
    [
      'a benchmark',
      benchmark(),
      /^ground_control_points: must outline an area, found that zone "z" is not placed by them$/,
    ],
  ];
  for (const [what, zone, message] of refused) {
    it(`answers 400 for a zone with ${what}`, async () => {
      const { send } = await withZones(zone);
      const { status, body } = await send('GET', '/v2/zones/z/createfence');
      assert.equal(status, 400);
      assert.match(body.message, message);
    });
  }

  it('answers 404 for an unknown zone, also by a foreign id', async () => {
    const { send } = await withZones(HALL);
    assert.equal((await send('GET', '/v2/zones/hall/createfence')).status, 404);
  });
});

function benchmark(): object {
  return { id: 'z', type: 'generic', surface_projection: 'EPSG:32632', position: point(9, 50) };
}

describe('POST /zones/{id}/fence', () => {
  it('stores a local fence in EPSG:4326', async () => {
    const { send, entities } = await withZones(HALL);
    const sent = { id: UUID_A, name: 'f', region: SQUARE_M, crs: 'local', zone_id: 'hall', timeout: 500 };
    const { status, headers, body } = await send('POST', `/hub/v2/zones/${HALL.id}/fence`, sent);
    assert.equal(status, 201);
    assert.equal(headers['Location'], `/hub/v2/fences/${UUID_A}`);
    assert.deepEqual((await send('GET', `/v2/fences/${UUID_A}`)).body, body);
    const { region, ...rest } = entities.get('fence', UUID_A) ?? assert.fail();
    assert.deepEqual(rest, { id: UUID_A, name: 'f', zone_id: 'hall', timeout: 500 });
    assert.deepEqual(region, body.region);
    assertNear(polygonOf(body)[2]?.[0], 9.00013948, 1e-7);
    assertNear(polygonOf(body)[2]?.[1], 50.00008989, 1e-7);
  });

  it('generates a missing id, also in v1', async () => {
    const { send } = await withZones(HALL);
    const circle = { region: point(5, 5), radius: 2 };
    assert.match((await send('POST', `/v2/zones/${HALL.id}/fence`, circle)).body.id, /^[0-9a-f-]{36}$/);
    const inV1 = await send('POST', `/v1/zones/${HALL.id}/fence`, { id: UUID_B, ...circle });
    assert.notEqual(inV1.body.id, UUID_B);
    assert.equal(inV1.headers['Location'], `/v1/fences/${inV1.body.id}`);
  });

  it('orients the polygon of a mirrored zone correctly, and subdivides', async () => {
    const rows = (HALL.ground_control_points ?? []).map(([x = 0, y = 0], i) => (i % 2 === 0 ? [x, y] : [x, -y]));
    const { send } = await withZones({ ...HALL, ground_control_points: rows });
    const plain = polygonOf((await send('POST', `/v2/zones/${HALL.id}/fence`, { region: SQUARE_M })).body);
    const area = plain.reduce((sum, [x = 0, y = 0], i) => {
      const [nextX = 0, nextY = 0] = plain[i + 1] ?? plain[0] ?? [];
      return sum + (x - 9) * (nextY - 50) - (nextX - 9) * (y - 50);
    }, 0);
    assert.ok(area > 0, String(area));
    const large = { type: 'Polygon', coordinates: [SQUARE_M.coordinates[0]?.map(([x = 0, y = 0]) => [x * 3, y * 3])] };
    const dense = await send('POST', `/v2/zones/${HALL.id}/fence?subdivide=true`, { region: large });
    assert.ok(polygonOf(dense.body).length >= 13, String(polygonOf(dense.body).length));
  });

  const refused: readonly (readonly [string, unknown, RegExp])[] = [
    ['another crs', { region: SQUARE_M, crs: 'EPSG:4326' }, /^crs: must be local or absent, found "EPSG:4326"$/],
    ['another zone', { region: SQUARE_M, zone_id: 'reader' }, /^zone_id: must be ".*" as in the path, .*"reader"$/],
    ['no region', {}, /^region: is required/],
    ['a circle without radius', { region: point(1, 1) }, /^radius: must be greater than 0/],
    ['an array', [], /^body: must be an object/],
    ['a position out of reach', { region: point(1e9, 1), radius: 1 }, /^region\.coordinates: must lie within reach/],
    ['an id that exists', { id: UUID_A, region: SQUARE_M }, /already exists$/],
  ];
  for (const [what, body, message] of refused) {
    it(`answers 400 to ${what}`, async () => {
      const { send, entities } = await withZones(HALL, rfidZone({ id: 'reader' }));
      await send('POST', `/v2/zones/${HALL.id}/fence`, { id: UUID_A, region: SQUARE_M });
      const reply = await send('POST', `/v2/zones/${HALL.id}/fence`, body);
      assert.equal(reply.status, 400);
      assert.match(reply.body.message, message);
      assert.equal(entities.count('fence'), 1);
    });
  }

  it('answers 400 for a zone without coordinates and 404 for an unknown one', async () => {
    const { send } = await withZones(rfidZone({ id: 'reader' }));
    assert.equal((await send('POST', '/v2/zones/reader/fence', { region: SQUARE_M })).status, 400);
    assert.equal((await send('POST', '/v2/zones/nowhere/fence', { region: SQUARE_M })).status, 404);
  });
});

describe('subdivide', () => {
  const large = { type: 'Polygon', coordinates: [SQUARE_M.coordinates[0]?.map(([x = 0, y = 0]) => [x * 4, y * 4])] };
  for (const [path, body, member] of [
    ['fences', { region: large, crs: 'local', zone_id: 'hall' }, 'region'],
    ['fences', { region: large, crs: 'EPSG:32632' }, 'region'],
    ['trackables', { type: 'omlox', geometry: large }, 'geometry'],
  ] as const) {
    it(`adds positions every 10 m to the ${member} of ${path} on POST and PUT`, async () => {
      const far = {
        type: 'Polygon',
        coordinates: large.coordinates.map((ring) => ring?.map(([x = 0, y = 0]) => [x + 5e5, y + 5.5e6])),
      };
      const sent = 'crs' in body && body.crs !== 'local' ? { ...body, region: far } : body;
      const { send, entities } = await withZones(HALL);
      const kept = () => {
        const entity = entities.get(path === 'fences' ? 'fence' : 'trackable', UUID_A) as never as Record<
          string,
          typeof large
        >;
        return entity[member]?.coordinates[0]?.length ?? 0;
      };
      await send('POST', `/v2/${path}`, { id: UUID_A, ...sent });
      assert.equal(kept(), 5);
      await send('PUT', `/v2/${path}/${UUID_A}?subdivide=true`, sent);
      assert.ok(kept() >= 17 && kept() <= 21, String(kept()));
      await send('DELETE', `/v2/${path}/${UUID_A}`);
      await send('POST', `/v2/${path}?subdivide=1`, { id: UUID_A, ...sent });
      assert.ok(kept() >= 17 && kept() <= 21, String(kept()));
    });
  }

  it('leaves a circle, and an entity without polygon, unchanged', async () => {
    const { send } = await withZones();
    assert.equal((await send('POST', '/v2/fences?subdivide=true', { region: point(8, 50), radius: 900 })).status, 201);
    assert.equal((await send('POST', '/v2/trackables?subdivide=true', { type: 'omlox' })).status, 201);
  });
});
