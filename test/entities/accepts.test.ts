import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Kind } from '../../src/entities/entities.ts';
import { beside, carrier, hole } from './beside.ts';
import { openEntities, POINTS, point, polygon, rfidZone, uwbZone } from './open_entities.ts';

const NIL = '00000000-0000-0000-0000-000000000000';

const GOOD: Record<Kind, readonly (readonly [string, object])[]> = {
  zone: [
    ['three pairs', uwbZone()],
    ['two pairs', uwbZone({ ground_control_points: POINTS.slice(0, 4) })],
    ['a proximity zone', rfidZone()],
    ['no points, but incomplete', { type: 'wifi', incomplete_configuration: true }],
    [
      'one pair, but incomplete',
      uwbZone({ ground_control_points: POINTS.slice(0, 2), incomplete_configuration: true }),
    ],
    ['a proximity zone without position, but incomplete', { type: 'ibeacon', incomplete_configuration: true }],
    ['type none', { type: 'none' }],
    ['a benchmark', { type: 'generic', position: point(8.68, 50.11), surface_projection: 'EPSG:32632' }],
    ['nulls', uwbZone({ position: null, foreign_id: null, name: null, properties: null, parent: null })],
    ['a trackable as parent', rfidZone({ parent: carrier })],
    ['a proximity zone as parent', rfidZone({ parent: 'reader' })],
    ['an empty list of points', rfidZone({ ground_control_points: [] })],
    ['no points, but anchors that georeference it', { type: 'uwb', anchor_ids: ['a1', 'a2', 'unknown'] }],
    ['anchors that are not there yet', uwbZone({ anchor_ids: ['later'] })],
    ['generic, with points', { type: 'generic', ground_control_points: POINTS }],
    [
      'a benchmark with all its members',
      {
        type: 'uwb',
        transformation_type: 'benchmark',
        position: point(8.68, 50.11),
        surface_projection: 'EPSG:32632',
        local_origin: point(10, 10),
        scale_factor: 0.9996,
        easting_angle: 12.5,
        meridian_convergence: -0.3,
      },
    ],
    ['a benchmark in polar coordinates', { type: 'generic', position: point(0, 89), surface_projection: 'EPSG:32661' }],
    [
      'a benchmark, but incomplete',
      { type: 'generic', transformation_type: 'benchmark', incomplete_configuration: true },
    ],
    ['no transformation', { type: 'uwb', transformation_type: 'none' }],
  ],
  fence: [
    ['a polygon', { region: polygon() }],
    ['a circle', { region: point(8, 50), radius: 5 }],
    ['a hole', { region: polygon(hole), exit_tolerance: 0 }],
    ['local coordinates by id', { region: point(5, 5), radius: 1, crs: 'local', zone_id: 'hall' }],
    ['local coordinates by foreign id', { region: point(5, 5), radius: 1, crs: 'local', zone_id: 'hall-1' }],
    ['UTM', { region: point(477000, 5551000), radius: 1, crs: 'EPSG:32632' }],
    ['beyond the antimeridian', { region: point(181, 0), radius: 1 }],
    ['infinite and absent times', { region: polygon(), timeout: -1, exit_delay: null, entry_delay: 0 }],
  ],
  trackable: [
    ['nothing but a type', { type: 'virtual' }],
    ['a nil id', { type: 'omlox', id: NIL }],
    ['providers', { type: 'omlox', location_providers: ['a', 'b'] }],
    ['no providers', { type: 'omlox', location_providers: null }],
    [
      'a shape',
      {
        type: 'omlox',
        geometry: polygon([
          [
            [0, 0],
            [1, 0],
            [1, 1],
          ],
        ]),
      },
    ],
    ['rules', { type: 'omlox', locating_rules: [{ expression: "type = 'uwb' AND accuracy < 1", priority: 3 }] }],
    ['a parent', { type: 'omlox', parent: carrier }],
    ['the older name of a timeout', { type: 'omlox', timeout: 500 }],
  ],
  provider: [
    ['any id', { id: '77:4f:34:69/27%40', type: 'uwb' }],
    ['no id', { type: 'ble-aoa' }],
    ['sensors of any kind', { id: 'p', type: 'uwb', sensors: [1, { a: null }] }],
  ],
  anchor: [
    ['an id alone', { id: 'anchor/1' }],
    ['both positions', { id: 'a', local_position: point(1, 2), georeferenced_position: point(8, 50) }],
    ['a zone by foreign id', { id: 'a', zone_id: 'hall-1', elevation_angle: -30.5, properties: { x: 1 } }],
    ['an id to be generated', { id: null, name: 'north' }],
  ],
};

describe('Entities.create', () => {
  for (const [kind, rows] of Object.entries(GOOD) as [Kind, (typeof GOOD)[Kind]][]) {
    for (const [name, body] of rows) {
      it(`accepts a ${kind} with ${name} and stores it unchanged`, async () => {
        const entities = await beside();
        const entity = await entities.create(kind, body);
        const { id, ...rest } = entity;
        const { id: _sent, ...sent } = body as { id?: string };
        assert.ok(id !== '' && id !== NIL);
        if (kind !== 'fence') assert.deepEqual(rest, sent);
        assert.equal(entities.get(kind, id), entity);
      });
    }
  }

  it('normalizes a clockwise, open fence and leaves everything else unchanged', async () => {
    const { entities } = openEntities();
    const clockwise = [
      [
        [8, 50],
        [8, 51],
        [9, 51],
        [9, 50],
      ],
    ];
    const { region } = await entities.create('fence', { name: 'f', region: polygon(clockwise) });
    assert.deepEqual(region.coordinates, [
      [
        [8, 50],
        [9, 50],
        [9, 51],
        [8, 51],
        [8, 50],
      ],
    ]);
  });

  it('drops unknown members, but none inside properties and sensors', async () => {
    const { entities } = openEntities();
    const body = JSON.parse(
      '{"colour":1,"type":"uwb","properties":{"colour":{"x":[]}},"id":"p","__proto__":{"a":1},"sensors":{"q":1}}',
    );
    const provider = await entities.create('provider', body);
    const kept = '{"type":"uwb","properties":{"colour":{"x":[]}},"id":"p","sensors":{"q":1}}';
    assert.equal(JSON.stringify(provider), kept);
  });
});
