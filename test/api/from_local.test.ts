import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { point, rfidZone } from '../entities/open_entities.ts';
import { HALL } from '../support/hall.ts';
import { assertNear } from './open_api.ts';
import { polygonOf, withZones } from './with_zones.ts';

const LINE = {
  type: 'LineString',
  coordinates: [
    [0, 0],
    [100, 0],
    [100, 50],
    [0, 50],
    [0, 0],
  ],
};

describe('PUT /zones/fromlocal', () => {
  it('returns a zone whose points are the local coordinates, without storing it', async () => {
    const { send, entities } = await withZones();
    const { status, body } = await send('PUT', '/v2/zones/fromlocal', {
      creation_type: 'local_coordinates',
      local_coordinates: LINE,
      global_reference: point(9, 50),
    });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['id', 'type', 'ground_control_points']);
    assert.equal(body.ground_control_points.length, 8);
    assert.deepEqual(body.ground_control_points.slice(0, 2), [
      [9, 50],
      [0, 0],
    ]);
    assertNear(body.ground_control_points[2]?.[0], 9.00139478, 1e-7);
    assert.equal(entities.count('zone'), 0);
    assert.equal((await send('POST', '/v2/zones', body)).status, 201);
    const moved = await send('PUT', `/v2/zones/${body.id}/transform`, { position: point(0, 50) });
    assertNear(moved.body.position.coordinates[1], 50.00044946, 1e-7);
  });

  it('rotates by rotation and meridian convergence around the local reference', async () => {
    const { send } = await withZones();
    const { body } = await send('PUT', '/v1/zones/fromlocal', {
      local_coordinates: LINE,
      global_reference: point(9, 50),
      local_reference: point(100, 50),
      rotation: 100,
      meridian_convergence: -10,
    });
    assert.deepEqual(body.ground_control_points[4], [9, 50]);
    // 50 m along negative y, which points west after the rotation.
    assertNear(body.ground_control_points[2]?.[0], 9 - 0.00069739, 1e-7);
    assertNear(body.ground_control_points[2]?.[1], 50, 1e-7);
  });

  const refused: readonly (readonly [string, unknown, RegExp])[] = [
    ['no reference', { local_coordinates: LINE }, /^global_reference: is required for a zone, found nothing$/],
    ['no coordinates', { global_reference: point(9, 50) }, /^local_coordinates: is required for a zone/],
    ['one place twice', { ...reference(), local_coordinates: line([1, 1], [1, 1]) }, /^local_coordinates: must place/],
    ['another kind', { ...reference(), creation_type: 'survey' }, /^creation_type: must be "local_coordinates"/],
    ['a reference off the earth', { ...reference(), global_reference: point(9, 91) }, /^global_reference\.coord/],
    ['no object', [], /^body: must be an object/],
  ];
  for (const [what, body, message] of refused) {
    it(`answers 400 to ${what}`, async () => {
      const { send } = await withZones();
      const reply = await send('PUT', '/v2/zones/fromlocal', body);
      assert.equal(reply.status, 400);
      assert.match(reply.body.message, message);
    });
  }
});

function reference(): object {
  return { global_reference: point(9, 50), local_coordinates: LINE };
}

function line(...coordinates: number[][]): object {
  return { type: 'LineString', coordinates };
}

describe('PUT /fences/fromlocal', () => {
  it('makes a circle in a zone, a polygon by a reference, and a polygon in a zone', async () => {
    const { send, entities } = await withZones(HALL);
    const circle = await send('PUT', '/v2/fences/fromlocal', {
      local_reference: point(100, 0),
      radius: 5,
      zone_id: 'hall',
    });
    assert.deepEqual(Object.keys(circle.body), ['id', 'region', 'radius']);
    assertNear(circle.body.region.coordinates[0], 9.001394785, 1e-6);
    const byReference = await send('PUT', '/v2/fences/fromlocal', reference());
    const byZone = await send('PUT', '/v1/fences/fromlocal', { local_coordinates: LINE, zone_id: HALL.id });
    for (const { status, body } of [byReference, byZone]) {
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ['id', 'region']);
      assert.equal(polygonOf(body).length, 5);
      assertNear(polygonOf(body)[1]?.[0], 9.001395, 1e-5);
      assert.equal((await send('POST', '/v2/fences', body)).status, 201);
    }
    assert.equal(entities.count('fence'), 2);
  });

  it('closes an open line, and centers a circle at 0 0 without a reference', async () => {
    const { send } = await withZones(HALL);
    const open = { local_coordinates: line([0, 0], [10, 0], [0, 10]), zone_id: 'hall' };
    assert.equal(polygonOf((await send('PUT', '/v2/fences/fromlocal', open)).body).length, 4);
    const circle = await send('PUT', '/v2/fences/fromlocal', { radius: 5, zone_id: 'hall' });
    assertNear(circle.body.region.coordinates[0], 9, 1e-7);
  });

  const refused: readonly (readonly [string, unknown, RegExp])[] = [
    ['nothing', {}, /^local_coordinates: is required for a fence without radius and zone_id, found nothing$/],
    ['a radius without zone', { radius: 5 }, /^local_coordinates: is required/],
    ['a zone without radius', { zone_id: 'hall' }, /^local_coordinates: is required/],
    [
      'coordinates alone',
      { local_coordinates: LINE },
      /^global_reference: is required without zone_id, found nothing$/,
    ],
    ['an unknown zone', { local_coordinates: LINE, zone_id: 'x' }, /^zone_id: must be the id or foreign id.*"x"$/],
    ['a proximity zone', { local_coordinates: LINE, zone_id: 'reader' }, /^zone_id: must be a zone with local coord/],
    [
      'two positions',
      { ...reference(), local_coordinates: line([0, 0], [1, 0]) },
      /^local_coordinates: must have at least 3 different points, found 2$/,
    ],
    [
      'a line that crosses itself',
      { ...reference(), local_coordinates: line([0, 0], [9, 9], [9, 0], [0, 9]) },
      /^local_coordinates: must be a valid polygon, found Self-intersection at/,
    ],
    ['radius 0', { radius: 0, zone_id: 'hall' }, /^radius: must be greater than 0, found 0$/],
    ['a radius below 0', { radius: -1, zone_id: 'hall' }, /^radius: must be >= 0, found -1$/],
    [
      'a position out of reach',
      { local_coordinates: line([0, 0], [1e9, 0], [0, 1]), zone_id: 'hall' },
      /coordinates\[1\]/,
    ],
  ];
  for (const [what, body, message] of refused) {
    it(`answers 400 to ${what}`, async () => {
      const { send } = await withZones(HALL, rfidZone({ id: 'reader' }));
      const reply = await send('PUT', '/v2/fences/fromlocal', body);
      assert.equal(reply.status, 400);
      assert.match(reply.body.message, message);
    });
  }
});
